/**
 * The native part of `node:wasi` ends the process: when a module says `proc_exit` or `proc_raise`, over sockets, of which
 * it can have none, and over whatever it does not expect of its callers. And it takes the standard streams of a module by
 * number, whosever these are (descriptor-guard.cjs).
 *
 * It is loaded here, which takes a millisecond: nothing tells of an `import` of it before that has what it asked for.
 */
'use strict';
const { refusalOf } = require('./descriptor-guard.cjs');
const { like } = require('./like.cjs');

const LAST_STREAM = 2;
/** As WASI numbers them. */
const BAD_FILE = 8;
const UNSUPPORTED = 58;
const NOT_ALLOWED = 76;
/** Of the server's own streams. */
const ON_STREAMS = ['fd_read', 'fd_write', 'fd_fdstat_get', 'fd_filestat_get', 'fd_prestat_get'];
const WARNING = 'WASI is an experimental feature and might change at any time';
const FIXED = { writable: false, configurable: false };

const { apply, construct, getPrototypeOf, ownKeys } = Reflect;
const { defineProperty, keys, seal, setPrototypeOf } = Object;
const { from, isArray } = Array;

/** `owns` says whether the thread has opened a number itself. */
function guardWasi(owns) {
  const wasi = loadQuietly();
  const { WASI } = wasi;
  const sample = new WASI({ version: 'preview1' });
  const memoryKey = ownKeys(sample).find((key) => key.description === 'kSetMemory');
  if (memoryKey !== undefined) guardMemory(WASI.prototype, memoryKey);
  /** What modules import, and the numbers of its streams. */
  const streams = new WeakMap();
  const streamsOf = streams.get.bind(streams);
  const keep = streams.set.bind(streams);
  guardImports(getPrototypeOf(sample.wasiImport), streamsOf, owns);

  let isTold = false;
  /** The class itself takes any numbers: its instances name this one. */
  function GuardedWASI(options) {
    if (new.target === undefined)
      throw new TypeError("Class constructor WASI cannot be invoked without 'new'");
    if (!isTold) process.emitWarning(WARNING, 'ExperimentalWarning');
    isTold = true;
    const { stdin = 0, stdout = 1, stderr = 2, args, ...others } = options ?? {};
    const files = [stdin, stdout, stderr];
    for (const file of files) if (file > LAST_STREAM && !owns(file)) throw refusalOf('wasi');
    const given = { ...others, stdin, stdout, stderr, args: plain(args), returnOnExit: true };
    const made = construct(WASI, [given]);
    keep(made.wasiImport, files);
    return new.target === GuardedWASI ? made : setPrototypeOf(made, new.target.prototype);
  }
  defineProperty(GuardedWASI, 'name', { value: 'WASI' });
  GuardedWASI.prototype = WASI.prototype;
  WASI.prototype.constructor = GuardedWASI;
  wasi.WASI = GuardedWASI;
}

/** Without the warning that it is an experiment, which is for whoever uses it. */
function loadQuietly() {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return require('node:wasi');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A list that cannot say what is made of it: the native part expects another one. */
const plain = (list) =>
  isArray(list) ? defineProperty(from(list, String), 'constructor', { value: undefined }) : list;

/** It must be called with one argument. */
function guardMemory(prototype, key) {
  defineProperty(prototype, key, {
    set(setMemory) {
      defineProperty(this, key, { value: (memory) => setMemory(memory) });
    },
  });
}

function guardImports(prototype, streamsOf, owns) {
  for (const name of keys(prototype)) {
    const use = prototype[name];
    prototype[name] = like(use, function (...given) {
      const files = streamsOf(this);
      if (files === undefined) throw new TypeError('Illegal invocation');
      return answerTo(name, given, files, owns) ?? apply(use, this, given);
    });
  }
  defineProperty(prototype, 'constructor', { value: Object, ...FIXED });
  // Node reads all that is there as it makes an instance: nothing else is to hear of it.
  seal(setPrototypeOf(prototype, null));
}

/** When it is not for the native part to answer. */
function answerTo(name, [file, target], files, owns) {
  if (name === 'proc_exit' || name === 'proc_raise')
    throw Object.assign(new Error('A graph cannot send signals to the server'), { name: 'ProcessKill' });
  if (name.startsWith('sock_')) return UNSUPPORTED;
  if (name === 'fd_renumber' && !(file > LAST_STREAM && target > LAST_STREAM)) return NOT_ALLOWED;
  if (!name.startsWith('fd_') || file > LAST_STREAM) return undefined;
  // Who has opened it closes it.
  if (name === 'fd_close' && file in files) return 0;
  const number = files[file];
  if (number <= LAST_STREAM) return ON_STREAMS.includes(name) ? undefined : NOT_ALLOWED;
  return owns(number) ? undefined : BAD_FILE;
}

module.exports = { guardWasi };
