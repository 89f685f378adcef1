/**
 * The side of the threads (see link-gate.ts). Plain CommonJS, because threads begin with it that have no compiler.
 *
 * Found through a module of `vm`, which needs `--experimental-vm-modules`: nothing else leads to the method that links.
 * Versions of Node without that method do not ask what ends the process.
 */
'use strict';
const { syncBuiltinESMExports } = require('node:module');
const vm = require('node:vm');
const { performance } = require('node:perf_hooks');
const { getEnvironmentData } = require('node:worker_threads');

/** As in link-gate.ts. */
const CLOSED = -(2 ** 30);
/** Linking takes milliseconds. */
const LINK_MS = 1_000;

const gates = getEnvironmentData('link gate');
if (gates !== undefined && vm.SyntheticModule !== undefined) {
  guardLinking(gates);
  // They are there only for this, and lead whoever has one to what ends the process.
  for (const name of ['Module', 'SourceTextModule', 'SyntheticModule']) delete vm[name];
  syncBuiltinESMExports();
}

function guardLinking(gates) {
  const linker = linkerOf(anyModule());
  const link = linker?.instantiateSync;
  if (link === undefined) return;
  linker.instantiateSync = function (...given) {
    gates.forEach(enter);
    try {
      return link.apply(this, given);
    } finally {
      for (const gate of gates) Atomics.sub(gate, 0, 1);
    }
  };
}

function enter(gate) {
  for (;;) {
    const inside = Atomics.load(gate, 0);
    // Closed for ever: the end of the thread is on its way.
    if (inside < 0) Atomics.wait(gate, 0, inside);
    else if (Atomics.compareExchange(gate, 0, inside, inside + 1) === inside) return;
  }
}

/** The same for threads that threads start: their owner may end them while it goes on itself. `gates` by worker. */
function closeBeforeEnds({ prototype }, gates) {
  const { setTimeout } = globalThis;
  const { terminate } = prototype;
  prototype.terminate = function (...given) {
    const gate = gates.get(this);
    const limit = performance.now() + LINK_MS;
    const isOpen = () => {
      if (Atomics.load(gate, 0) >= 0) Atomics.add(gate, 0, CLOSED);
      return Atomics.load(gate, 0) !== CLOSED && performance.now() < limit;
    };
    if (gate === undefined || !isOpen()) return terminate.apply(this, given);
    return new Promise((resolve) => {
      const look = () => (isOpen() ? setTimeout(look, 1) : resolve(terminate.apply(this, given)));
      setTimeout(look, 1);
    });
  };
}

/** Without the warning that the module is an experiment: nobody else is to hear of it. */
function anyModule() {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return new vm.SyntheticModule([], () => undefined);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** What all modules of the thread are linked by. */
function linkerOf(module) {
  const parts = Object.getOwnPropertySymbols(module).map((symbol) => module[symbol]);
  return parts.map((part) => part && Object.getPrototypeOf(part)).find((each) => each?.instantiateSync);
}

module.exports = { closeBeforeEnds };
