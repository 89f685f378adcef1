/**
 * Descriptors are those of the whole process, also of the log and of connections, and any number is somebody's. So a
 * thread reads, writes, changes and closes by number what it has opened itself, and prints to the standard streams.
 */
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const tty = require('node:tty');
const { like } = require('./like.cjs');

/** Take a number first. `fstat` changes nothing. */
const BY_NUMBER = [
  'read',
  'readv',
  'write',
  'writev',
  'ftruncate',
  'fchmod',
  'fchown',
  'futimes',
  'fsync',
  'fdatasync',
];
/** Take a number in the place of a path. */
const BY_EITHER = ['readFile', 'writeFile', 'appendFile'];
/** Of the standard streams as well. */
const ON_STREAMS = ['read', 'readv', 'write', 'writev', 'readFile', 'writeFile', 'appendFile'];
const LAST_STREAM = 2;
const HIDDEN = { value: Object, writable: false, configurable: false };
const { apply, construct } = Reflect;

const refusalOf = (syscall) =>
  Object.assign(new Error(`EBADF: bad file descriptor, ${syscall}`), {
    ...{ errno: -os.constants.errno.EBADF, code: 'EBADF', syscall },
  });

/** Returns what says whether the thread has opened a number itself. */
function guardDescriptors() {
  const files = new Set();
  // As they are now: a graph may replace them for a moment.
  const own = { add: files.add.bind(files), has: files.has.bind(files), delete: files.delete.bind(files) };
  guardOpens(own);
  guardCloses(own);
  guardHandles(own);
  guardTerminals(own);
  for (const name of [...BY_NUMBER, ...BY_EITHER]) guardUse(own, name);
  // By its class, which its instances name, any number can be made a handle that closes it in the end.
  const { prototype } = process.binding('fs').FileHandle;
  Object.defineProperty(prototype, 'constructor', HIDDEN);
  return own.has;
}

function guardOpens(own) {
  const { open, openSync } = fs;
  const { open: openHandle } = fs.promises;
  fs.openSync = (...given) => {
    const file = openSync(...given);
    own.add(file);
    return file;
  };
  fs.open = (...given) => {
    const done = given.pop();
    if (typeof done !== 'function') return open(...given, done);
    return open(...given, (error, file) => {
      if (file !== undefined) own.add(file);
      done(error, file);
    });
  };
  fs.promises.open = async (...given) => {
    const handle = await openHandle(...given);
    const { fd } = handle;
    own.add(fd);
    // Heard of as it begins to close: from then on it is somebody else's number.
    handle.once('close', () => own.delete(fd));
    return handle;
  };
}

/** A number that is closed twice may be another one's by then: a connection, or the log. Each closes what it opened. */
function guardCloses(own) {
  const { close, closeSync } = fs;
  const isOwn = (file) => typeof file !== 'number' || own.delete(file);
  fs.closeSync = (file) => {
    if (!isOwn(file)) throw refusalOf('close');
    closeSync(file);
  };
  fs.close = (file, ...given) => {
    if (isOwn(file)) return close(file, ...given);
    const [done] = given;
    if (typeof done !== 'function') throw refusalOf('close');
    process.nextTick(done, refusalOf('close'));
  };
}

function guardUse(own, name) {
  const isStream = (file) => file <= LAST_STREAM && ON_STREAMS.includes(name);
  const isRefused = (file) => typeof file === 'number' && !own.has(file) && !isStream(file);
  const { [name]: use, [`${name}Sync`]: useSync } = fs;
  if (useSync !== undefined)
    fs[`${name}Sync`] = like(useSync, (...given) => {
      if (isRefused(given[0])) throw refusalOf(name);
      return useSync(...given);
    });
  fs[name] = like(use, (...given) => {
    if (!isRefused(given[0])) return use(...given);
    const done = given.at(-1);
    if (typeof done !== 'function') throw refusalOf(name);
    process.nextTick(done, refusalOf(name));
  });
}

/** A handle changes the file that it is opened on, and closes it in the end: from then on it is the handle's. */
function guardHandles(own) {
  const handles = { pipe_wrap: 'Pipe', tcp_wrap: 'TCP', udp_wrap: 'UDP' };
  for (const [part, name] of Object.entries(handles)) {
    const { prototype } = process.binding(part)[name];
    const { open } = prototype;
    prototype.open = function (file, ...given) {
      return own.delete(file) ? open.call(this, file, ...given) : -os.constants.errno.EBADF;
    };
  }
}

/** As above; to Node any connection will do for a terminal. */
function guardTerminals(own) {
  for (const name of ['ReadStream', 'WriteStream']) {
    const original = tty[name];
    const guarded = like(original, function (file, ...given) {
      if (!own.delete(file)) throw refusalOf('uv_tty_init');
      if (new.target !== undefined) return construct(original, [file, ...given], new.target);
      return this instanceof original
        ? apply(original, this, [file, ...given])
        : new original(file, ...given);
    });
    guarded.prototype = original.prototype;
    original.prototype.constructor = guarded;
    tty[name] = guarded;
  }
  const { prototype } = process.binding('tty_wrap').TTY;
  Object.defineProperty(prototype, 'constructor', HIDDEN);
}

module.exports = { guardDescriptors, refusalOf };
