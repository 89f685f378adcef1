/**
 * The functions of Node by which code reaches outside of its run, beside the requests that a recording answers. A call has
 * a name unless it is harmless: writes below the temporary folder, signals to the own process, databases in memory.
 */
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import { isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

type Call = readonly unknown[];
/** Returns the name of a call; undefined when it is harmless. */
export type NameOf = (args: Call, self?: unknown) => string | undefined;

/** Functions of one object. `isAsync`: they return promises. */
export interface Way {
  readonly owner: object;
  readonly names: readonly string[];
  readonly nameOf: NameOf;
  readonly isAsync?: boolean;
}

const always =
  (name: string): NameOf =>
  () =>
    name;

/** Node warns of modules that are experimental when they load, whoever loads them. */
function loadQuietly<T>(module: string): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return createRequire(import.meta.url)(module) as T;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function toPath(given: unknown): string | undefined {
  if (typeof given === 'string') return given;
  if (given instanceof URL) return given.protocol === 'file:' ? fileURLToPath(given) : undefined;
  return given instanceof Uint8Array ? Buffer.from(given).toString() : undefined;
}

/** The temporary folder is a scratch folder in a re-execution. Descriptors and handles come from paths that were opened. */
function isHarmless(given: unknown): boolean {
  const path = toPath(given);
  if (path === undefined || path === os.devNull) return true;
  const below = relative(os.tmpdir(), resolve(path));
  return below !== '..' && !below.startsWith(`..${below[2] === '\\' ? '\\' : '/'}`) && !isAbsolute(below);
}

/** Names the write to the first of these arguments that lies outside of the temporary folder. */
const writeTo =
  (...positions: readonly number[]): NameOf =>
  (args) => {
    const given = positions.map((at) => args[at]).find((path) => !isHarmless(path));
    return given === undefined ? undefined : `a write to ${toPath(given)}`;
  };

const { O_APPEND, O_CREAT, O_RDWR, O_TRUNC, O_WRONLY } = fs.constants;
const WRITING = O_APPEND | O_CREAT | O_RDWR | O_TRUNC | O_WRONLY;

const opened: NameOf = (args) => {
  const flags = args[1];
  const writes =
    typeof flags === 'number' ? (flags & WRITING) !== 0 : typeof flags === 'string' && /[aw+]/.test(flags);
  return writes ? writeTo(0)(args) : undefined;
};

/** Functions of `fs` by the arguments that they write to; each has a synchronous form and one that returns a promise. */
const WRITERS: readonly (readonly [NameOf, ...names: readonly string[]])[] = [
  [opened, 'open'],
  [writeTo(0), 'appendFile', 'chmod', 'chown', 'lchmod', 'lchown', 'lutimes', 'mkdir', 'mkdtemp', 'rm'],
  [writeTo(0), 'mkdtempDisposable', 'rmdir', 'truncate', 'unlink', 'utimes', 'writeFile'],
  [writeTo(1), 'copyFile', 'cp'],
  [writeTo(0, 1), 'link', 'rename'],
  // Node's permissions refuse it everywhere.
  [(args) => `a symbolic link ${toPath(args[1])}`, 'symlink'],
];

const fileWays: readonly Way[] = WRITERS.flatMap(([nameOf, ...names]) => [
  { owner: fs, names: names.flatMap((name) => [name, `${name}Sync`]), nameOf },
  { owner: fs.promises, names, nameOf, isAsync: true },
]);

const connected: NameOf = ([first]) => {
  const options: unknown = Array.isArray(first) ? first[0] : first;
  const path = typeof options === 'string' && Number.isNaN(Number(options)) ? options : Object(options).path;
  return typeof path === 'string' ? `a path socket (${path})` : 'a socket';
};

const LOOKUPS = ['lookup', 'lookupService', 'resolve', 'reverse'];
const lookupsOf = (owner: object): string[] =>
  Object.getOwnPropertyNames(owner).filter((name) => LOOKUPS.includes(name) || /^resolve[A-Z\d]/.test(name));

const dnsWays: readonly Way[] = [
  ...[dns, dns.Resolver.prototype].map((owner) => ({ owner, isAsync: false })),
  ...[dns.promises, dns.promises.Resolver.prototype].map((owner) => ({ owner, isAsync: true })),
].map(({ owner, isAsync }) => ({ owner, isAsync, names: lookupsOf(owner), nameOf: always('DNS') }));

const toOthers =
  (what: string): NameOf =>
  ([pid, signal]) =>
    pid === process.pid || signal === 0 ? undefined : what;

const database: NameOf = ([path, options]) =>
  path === ':memory:' || path === '' || Object(options).readOnly === true || isHarmless(path)
    ? undefined
    : `a database (${toPath(path)})`;
const attached: NameOf = ([sql]) =>
  /\battach\b|\bvacuum\b[^;]*\binto\b/i.test(String(sql)) ? 'a database (attached)' : undefined;

/** Loads the modules concerned. */
export function waysOut(): readonly Way[] {
  const sqlite = loadQuietly<Record<string, { prototype: object }>>('node:sqlite');
  const wasi = loadQuietly<object>('node:wasi');
  const load = createRequire(import.meta.url) as (module: string) => any;
  const report = process.report as object;
  return [
    { owner: net.Socket.prototype, names: ['connect'], nameOf: connected },
    { owner: net.Server.prototype, names: ['listen'], nameOf: always('a server') },
    { owner: net, names: ['_createServerHandle', 'BoundSocket'], nameOf: always('a server') },
    { owner: dgram, names: ['_createSocketHandle'], nameOf: always('UDP') },
    { owner: dgram.Socket.prototype, names: ['bind', 'connect', 'send'], nameOf: always('UDP') },
    ...dnsWays,
    {
      owner: childProcess.ChildProcess.prototype,
      names: ['spawn'],
      nameOf: ([options]) => `a child process (${Object(options).file})`,
    },
    {
      owner: childProcess,
      names: ['execFileSync', 'execSync', 'spawnSync'],
      nameOf: ([command]) => `a child process (${String(command)})`,
    },
    { owner: load('node:worker_threads'), names: ['Worker'], nameOf: always('a worker thread') },
    { owner: load('node:module'), names: ['register'], nameOf: always('a thread of module hooks') },
    { owner: load('node:inspector'), names: ['open'], nameOf: always('the inspector') },
    {
      owner: load('node:inspector').Session.prototype,
      names: ['connect', 'connectToMainThread'],
      nameOf: always('the inspector'),
    },
    ...fileWays,
    {
      owner: fs,
      names: ['createWriteStream'],
      nameOf: (args) => (typeof Object(args[1]).fd === 'number' ? undefined : writeTo(0)(args)),
    },
    { owner: sqlite, names: ['DatabaseSync'], nameOf: database },
    { owner: sqlite['DatabaseSync']!.prototype, names: ['exec', 'prepare'], nameOf: attached },
    { owner: sqlite['DatabaseSync']!.prototype, names: ['createTagStore'], nameOf: always('a database') },
    { owner: sqlite, names: ['backup'], nameOf: writeTo(1), isAsync: true },
    { owner: wasi, names: ['WASI'], nameOf: always('WASI') },
    { owner: process, names: ['kill', '_kill', '_debugProcess'], nameOf: toOthers('a signal') },
    { owner: process, names: ['execve'], nameOf: always('another program') },
    { owner: process, names: ['dlopen'], nameOf: (args) => `an addon (${String(args[1])})` },
    {
      owner: os,
      names: ['setPriority'],
      nameOf: ([pid, rest]) => (rest === undefined || pid === 0 ? undefined : toOthers('a priority')([pid])),
    },
    { owner: report, names: ['writeReport'], nameOf: always('a report') },
    {
      owner: load('node:v8'),
      names: ['setHeapSnapshotNearHeapLimit', 'writeHeapSnapshot'],
      nameOf: always('a heap snapshot'),
    },
    { owner: load('node:trace_events'), names: ['createTracing'], nameOf: always('a trace') },
  ];
}
