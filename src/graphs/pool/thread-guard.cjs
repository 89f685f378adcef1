/**
 * What no thread that graph code runs in may do to the process. Plain CommonJS, because it is also the first module of
 * every thread that a graph starts itself (`--require`), and those have no compiler: there a graph reaches the process
 * as well as in its own worker.
 *
 * X4 Refused are signals to the process and the hearing of them, messages to its first thread, a debugger on that one,
 * for all to see, or one that stops or ends code, the taking of what nothing catches, another priority for it, flags of V8,
 * which are those of all threads, Node's own parts (`process.binding`), also by options of a nested thread, contexts with
 * microtasks of their own, the use of files that the thread has not opened (descriptor-guard.cjs), ends of the process by
 * WebAssembly (wasi-guard.cjs), and lists beyond what V8 can address (list-guard.cjs). Hooks may throw (hook-guard.cjs).
 * `process.exit`, and what nothing catches, end only the nested thread; it ends with its worker. Its memory counts as its
 * worker's: it inherits the mark by which that is found (kernel/worker-memory.ts).
 */
'use strict';
const fs = require('node:fs');
const inspector = require('node:inspector');
const modules = require('node:module');
const os = require('node:os');
const { join } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { pathToFileURL } = require('node:url');
const threads = require('node:worker_threads');
const LINK_GATE_SCRIPT = join(__dirname, '../../kernel/link-gate.cjs');
const { closeBeforeEnds } = require(LINK_GATE_SCRIPT);
const { guardCrypto } = require('./crypto-guard.cjs');
const { guardDescriptors } = require('./descriptor-guard.cjs');
const { guardHooks } = require('./hook-guard.cjs');
const { like } = require('./like.cjs');
const { guardLists } = require('./list-guard.cjs');
const { checkThreads } = require('./thread-limit.cjs');
const { optionsFrom } = require('./thread-options.cjs');
const { guardWasi } = require('./wasi-guard.cjs');

/** As in kernel/worker-memory.ts and kernel/link-gate.ts. */
const THREAD_MARK = 'graph worker';
const LEAVE = 'rewound.leave';
const LINK_GATE = 'link gate';
const LINK_GATE_OPTION = '--experimental-vm-modules';
/** What old libraries look into, and what does no harm. */
const PARTS = ['config', 'constants', 'icu', 'natives', 'os', 'url', 'util', 'uv'];
/** As Node does when it is not told. */
const STACK_MB = 4;
const FIXED = { writable: false, configurable: false };
// As it is now: a graph may replace it.
const { existsSync } = fs;
const { apply, construct } = Reflect;
const { from } = Array;
const { startsWith } = String.prototype;
/** Comes first, before whatever the thread itself is to begin with. */
const BEGINNING = [LINK_GATE_OPTION, '--require', LINK_GATE_SCRIPT, '--require', __filename];
/** Options that a thread takes from the environment: those that the server was started with. */
const { env: environment } = process;
const { NODE_OPTIONS: OPTIONS } = environment;

/** A child process that inherits the options of a nested thread is no thread of the server. */
if (!threads.isMainThread) {
  guardWasi(guardDescriptors());
  guardCrypto();
  guardProcess();
  guardThreads();
  guardHooks();
  guardLists();
  guardModuleHooks();
  modules.syncBuiltinESMExports();
}

function guardProcess() {
  const own = process.pid;
  const group = groupOf() ?? own;
  // What `process.kill` rests on, which takes texts as well; and a graph may rename the process.
  const kill = process._kill.bind(process);
  process._kill = (given, signal) => {
    // As Node reads it.
    const pid = Number(given) | 0;
    // 0 only asks whether the process is there.
    if (signal !== 0 && meansUs(pid, own, group))
      throw named('ProcessKill', 'A graph cannot send signals to the server');
    return kill(pid, signal);
  };
  const { setPriority } = os;
  os.setPriority = (...given) => {
    if (given.length > 1 && given[0] === own)
      throw named('PriorityRefused', "A graph cannot change the server's priority");
    return setPriority(...given);
  };
  const { setFlagsFromString } = v8;
  v8.setFlagsFromString = (flags) => {
    if (!/^--(no-?)?expose[-_]gc$/.test(flags))
      throw named('FlagsRefused', "A graph cannot change V8's flags: they are those of the whole process");
    return setFlagsFromString(flags);
  };
  // It would stop the server's own thread, or run code there.
  inspector.Session.prototype.connectToMainThread = () => {
    throw named('DebuggerRefused', 'A graph cannot debug the server');
  };
  inspector.open = () => {
    throw named('DebuggerRefused', 'A graph cannot open a port for debuggers');
  };
  const { post } = inspector.Session.prototype;
  inspector.Session.prototype.post = function (method, ...given) {
    // Node ends the process when a thread comes back to it like that.
    if (method === 'Runtime.terminateExecution')
      throw named('DebuggerRefused', 'A graph cannot end the code of its thread');
    // What is left behind would stop whoever runs there next.
    if (typeof method === 'string' && apply(startsWith, method, ['Debugger.']))
      throw named('DebuggerRefused', 'A graph cannot stop the code of its thread');
    return apply(post, this, [method, ...given]);
  };
  // It would take the signal from the server.
  guardSignal(vm.Script.prototype, 'runInContext', 1);
  guardSignal(vm.Script.prototype, 'runInThisContext', 0);
  guardMicrotasks(vm, 'createContext', 1);
  guardMicrotasks(vm, 'runInNewContext', 2);
  guardMicrotasks(vm.Script.prototype, 'runInNewContext', 1);
  const { binding } = process;
  process.binding = (name) => {
    if (!PARTS.includes(name)) throw named('BindingRefused', `A graph cannot use "${name}" of Node itself`);
    return binding(name);
  };
  // Whatever it says then, Node goes on in the middle of what failed, and ends the process over it.
  Object.defineProperty(process, '_fatalException', FIXED);
  process.setUncaughtExceptionCaptureCallback = () => {
    throw named('CaptureRefused', 'A graph cannot take the exceptions of its thread');
  };
  // The server may end the thread by it, whatever became of `process.exit`.
  const leave = process.reallyExit.bind(process, 0);
  Object.defineProperty(globalThis, Symbol.for(LEAVE), { value: leave });
  // They are asked how much memory the thread uses, and whose it is.
  for (const name of ['memoryUsage', 'getBuiltinModule']) Object.defineProperty(process, name, FIXED);
}

/** Itself, its group, all there are; and to Linux each of its threads is the process too. */
function meansUs(pid, own, group) {
  if (pid === own || pid === 0 || pid === -1 || pid === -group) return true;
  return pid > 0 && existsSync(`/proc/self/task/${pid}`);
}

/** Only Linux tells. The name of the process stands in brackets, whatever it contains. */
function groupOf() {
  if (!existsSync('/proc/self/stat')) return undefined;
  return Number(fs.readFileSync('/proc/self/stat', 'utf8').split(') ').pop().split(' ')[2]);
}

/** `place` is where the options stand. */
function guardSignal(owner, name, place) {
  const run = owner[name];
  owner[name] = function (...given) {
    if (given[place] != null) given[place] = { ...given[place], breakOnSigint: false };
    return run.apply(this, given);
  };
}

/** Node ends the process when code of such a context is out of time. `place` as above. */
function guardMicrotasks(owner, name, place) {
  const run = owner[name];
  owner[name] = like(run, function (...given) {
    const wanted = given[place] ?? {};
    const options = typeof wanted === 'string' ? { filename: wanted } : wanted;
    // Node itself refuses what are no options.
    if (typeof options !== 'object') return apply(run, this, given);
    const { microtaskMode, ...others } = options;
    if (microtaskMode !== undefined)
      throw named(
        'VmRefused',
        'A graph cannot have a context with microtasks of its own: leave out "microtaskMode"',
      );
    while (given.length < place) given.push(undefined);
    // It is there, so that Node asks nobody else.
    given[place] = { ...others, microtaskMode };
    return apply(run, this, given);
  });
}

function guardThreads() {
  Object.defineProperty(threads, 'getEnvironmentData', FIXED);
  const { postMessageToThread } = threads;
  // The server's own thread would have to read it. Not every version of Node has it.
  if (postMessageToThread !== undefined)
    threads.postMessageToThread = async (thread, ...given) => {
      if (!(thread > 0)) throw named('MessageRefused', 'A graph cannot send messages to the server');
      return postMessageToThread(thread, ...given);
    };
  const { setEnvironmentData } = threads;
  threads.setEnvironmentData = (key, value) => {
    if (key === THREAD_MARK || key === LINK_GATE)
      throw named('MarkRefused', 'A graph cannot change by what the server knows its threads');
    setEnvironmentData(key, value);
  };
  const { Worker, resourceLimits } = threads;
  const least = resourceLimits.maxOldGenerationSizeMb ?? 0;
  const adjust = (options) => {
    const { execArgv = process.execArgv, resourceLimits: limits, env } = options ?? {};
    const wanted = limits?.maxOldGenerationSizeMb ?? 0;
    return {
      ...options,
      resourceLimits: {
        ...limits,
        // At a limit of its own V8 may end the whole process: one large allocation does. The server watches instead.
        maxOldGenerationSizeMb: Math.max(wanted, least),
        // With less Node ends the process when it cannot even begin.
        stackSizeMb: Math.max(limits?.stackSizeMb ?? 0, STACK_MB),
      },
      execArgv: optionsFrom(BEGINNING, execArgv),
      // What is no object is for Node to refuse, or to share.
      ...(typeof (env ?? {}) === 'object' && { env: withOptions({ ...(env ?? environment) }) }),
    };
  };
  const outer = threads.getEnvironmentData(LINK_GATE) ?? [];
  const gates = new WeakMap();
  /** The class itself is out of reach: its instances name this one. */
  function GuardedWorker(file, options) {
    checkThreads();
    // One more gate, because its owner may end it while the others go on.
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const all = { __proto__: null, length: outer.length + 1 };
    setEnvironmentData(
      LINK_GATE,
      from(all, (_, i) => outer[i] ?? gate),
    );
    // One may share this thread's.
    const { NODE_OPTIONS: own } = environment;
    try {
      withOptions(environment);
      const made = new.target === GuardedWorker ? Worker : new.target;
      const worker = construct(Worker, [file, adjust(options)], made);
      gates.set(worker, gate);
      hideHandle(worker);
      return worker;
    } finally {
      if (own !== undefined) environment.NODE_OPTIONS = own;
      setEnvironmentData(LINK_GATE, outer);
    }
  }
  Object.defineProperty(GuardedWorker, 'name', { value: 'Worker' });
  GuardedWorker.prototype = Worker.prototype;
  Object.setPrototypeOf(GuardedWorker, Object.getPrototypeOf(Worker));
  Worker.prototype.constructor = GuardedWorker;
  closeBeforeEnds(Worker, gates);
  // It ends the process when the thread ends meanwhile.
  Worker.prototype.getHeapSnapshot = () => {
    throw named('SnapshotRefused', 'A graph cannot look into the heap of a thread');
  };
  threads.Worker = GuardedWorker;
}

function withOptions(env) {
  if (OPTIONS === undefined) delete env.NODE_OPTIONS;
  else env.NODE_OPTIONS = OPTIONS;
  return env;
}

/** By its class, which it names, a thread could be made without any of this. */
function hideHandle(worker) {
  for (const key of Object.getOwnPropertySymbols(worker)) {
    if (key.description !== 'kHandle' || worker[key] === null) continue;
    const prototype = Object.getPrototypeOf(worker[key]);
    if (prototype.constructor !== Object)
      Object.defineProperty(prototype, 'constructor', { value: Object, ...FIXED });
  }
}

/**
 * Node runs hooks of modules in one more thread, which belongs to this one but begins with nothing of ours: whoever
 * registers some reaches the process from there. So this module is the first of them.
 */
function guardModuleHooks() {
  const { register } = modules;
  if (register === undefined) return;
  let isGuarded = false;
  modules.register = function (...given) {
    if (!isGuarded) {
      isGuarded = true;
      register(pathToFileURL(__filename));
    }
    return register(...given);
  };
}

function named(name, message) {
  const error = new Error(message);
  error.name = name;
  return error;
}
