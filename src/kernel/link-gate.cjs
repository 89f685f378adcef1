/**
 * The side of the threads (see link-gate.ts). Plain CommonJS, because threads begin with it that have no compiler.
 *
 * Found through a module of `vm`, which needs `--experimental-vm-modules`: nothing else leads to the method that links.
 * Versions of Node without that method do not ask what ends the process.
 */
'use strict';
const vm = require('node:vm');
const { getEnvironmentData } = require('node:worker_threads');

const gate = getEnvironmentData('link gate');
if (gate !== undefined) guardLinking(gate);

function guardLinking(gate) {
  const linker = linkerOf(anyModule());
  const link = linker?.instantiateSync;
  if (link === undefined) return;
  linker.instantiateSync = function (...given) {
    enter(gate);
    try {
      return link.apply(this, given);
    } finally {
      Atomics.sub(gate, 0, 1);
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
