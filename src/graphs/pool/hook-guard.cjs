/**
 * Node ends the process when a callback of `async_hooks.createHook` throws: it exits, or, where a thread may not, stumbles
 * over its own count of what runs. So callbacks are called by others that catch: the hook is disabled, and what was thrown
 * becomes an exception that nothing catches, of whatever was going on. So it is with hooks on promises, by which every
 * promise of the thread, whosever it is, would reject.
 */
'use strict';
const hooks = require('node:async_hooks');
const v8 = require('node:v8');

const KINDS = ['init', 'before', 'after', 'destroy', 'promiseResolve'];
const PROMISE_KINDS = ['init', 'before', 'after', 'settled'];
const FIXED = { writable: false, configurable: false };

const { apply, ownKeys } = Reflect;
const { assign, create, defineProperty } = Object;
const defer = process.nextTick.bind(process);

/**
 * Callbacks of one hook, which `stop` disables when the first of them throws. To disable it may take effect later, and to
 * say so sets off more of what it hears of.
 */
function openBreaker(stop) {
  let isBroken = false;
  return (callback, self) => {
    // Node itself refuses what is no function, and does without what is not there.
    if (typeof callback !== 'function') return callback;
    return (...given) => {
      if (isBroken) return;
      try {
        apply(callback, self?.(), given);
      } catch (error) {
        isBroken = true;
        stop();
        defer(() => {
          throw error;
        });
      }
    };
  };
}

function catchAll(callbacks, kinds, caught, self) {
  const watched = { ...callbacks };
  for (const kind of kinds) if (watched[kind] !== undefined) watched[kind] = caught(watched[kind], self);
  return watched;
}

function guardHooks() {
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => {
    const caught = openBreaker(() => hook.disable());
    const hook = createHook(catchAll(callbacks, KINDS, caught, () => hook));
    for (const key of ownKeys(hook)) defineProperty(hook, key, FIXED);
    return hook;
  };
  guardPromiseHooks();
  // The class itself is out of reach: its instances name this one.
  defineProperty(Object.getPrototypeOf(createHook({})), 'constructor', { value: Object, ...FIXED });
}

function guardPromiseHooks() {
  const { promiseHooks } = v8;
  const guarded = {};
  for (const kind of ['onInit', 'onBefore', 'onAfter', 'onSettled'])
    guarded[kind] = (callback) => {
      const stop = promiseHooks[kind](openBreaker(() => stop())(callback));
      return stop;
    };
  guarded.createHook = (callbacks) => {
    const caught = openBreaker(() => stop());
    const stop = promiseHooks.createHook(catchAll(callbacks, PROMISE_KINDS, caught));
    return stop;
  };
  v8.promiseHooks = assign(create(null), promiseHooks, guarded);
}

module.exports = { guardHooks };
