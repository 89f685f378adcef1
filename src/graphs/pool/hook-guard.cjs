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
const FIXED = { writable: false, configurable: false };

function guardHooks() {
  const { createHook } = hooks;
  const { apply, ownKeys } = Reflect;
  const { defineProperty } = Object;
  const defer = process.nextTick.bind(process);

  hooks.createHook = (callbacks) => {
    const watched = { ...callbacks };
    // To disable it takes effect later, and to say so sets off more of what it hears of.
    let isBroken = false;
    for (const kind of KINDS) {
      const callback = watched[kind];
      // Node itself refuses what is no function, and does without what is not there.
      if (typeof callback !== 'function') continue;
      watched[kind] = (...given) => {
        if (isBroken) return;
        try {
          apply(callback, hook, given);
        } catch (error) {
          isBroken = true;
          hook.disable();
          defer(() => {
            throw error;
          });
        }
      };
    }
    const hook = createHook(watched);
    for (const key of ownKeys(hook)) defineProperty(hook, key, FIXED);
    return hook;
  };
  guardPromiseHooks();
  // The class itself is out of reach: its instances name this one.
  defineProperty(Object.getPrototypeOf(createHook({})), 'constructor', { value: Object, ...FIXED });
}

function guardPromiseHooks() {
  const { promiseHooks } = v8;
  const { apply } = Reflect;
  const { assign } = Object;
  const defer = process.nextTick.bind(process);
  const caught = (callback, stop) => {
    if (typeof callback !== 'function') return callback;
    let isBroken = false;
    return (...given) => {
      if (isBroken) return;
      try {
        apply(callback, undefined, given);
      } catch (error) {
        isBroken = true;
        stop();
        defer(() => {
          throw error;
        });
      }
    };
  };
  const guarded = {};
  for (const kind of ['onInit', 'onBefore', 'onAfter', 'onSettled']) {
    const begin = promiseHooks[kind];
    guarded[kind] = (callback) => {
      const stop = begin(caught(callback, () => stop()));
      return stop;
    };
  }
  const { createHook } = promiseHooks;
  guarded.createHook = (callbacks) => {
    const watched = { ...callbacks };
    for (const kind of ['init', 'before', 'after', 'settled'])
      watched[kind] = caught(watched[kind], () => stop());
    const stop = createHook(watched);
    return stop;
  };
  v8.promiseHooks = assign(Object.create(null), promiseHooks, guarded);
}

module.exports = { guardHooks };
