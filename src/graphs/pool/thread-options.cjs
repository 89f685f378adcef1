/**
 * What a thread that a graph starts is told to begin with: first of all the guards, and nothing by which it would have
 * Node's own parts, or write files and open ports that are the process's.
 *
 * A graph may replace any native for the moment in which it starts a thread: what is called here was taken before.
 */
'use strict';

const { apply } = Reflect;
const { exec } = RegExp.prototype;
const { from } = Array;

const NAMES = [
  ...['expose-internals', 'build-snapshot', 'inspect', 'debug', 'cpu-prof', 'heap-prof', 'heapsnapshot'],
  ...['permission', 'policy', 'experimental-permission', 'experimental-policy', 'allow-'],
];
/** To Node the one is as good as the other. */
const REFUSED = new RegExp(`^--(no-)?(${NAMES.join('|')})`.replaceAll('-', '[-_]'));
/** Those that this thread has, from the server. */
const inherited = new Set(process.execArgv);
const isInherited = inherited.has.bind(inherited);

/** `beginning` comes before whatever else was given. */
function optionsFrom(beginning, given) {
  const options = from(given, checkOption);
  const { length } = beginning;
  let begun = 0;
  while (begun < length && options[begun] === beginning[begun]) begun += 1;
  if (begun === length) return options;
  const all = { __proto__: null, length: length + options.length };
  return from(all, (_, i) => (i < length ? beginning[i] : options[i - length]));
}

/** A text from now on, whatever it says that it is. */
function checkOption(given) {
  const option = `${given}`;
  if (apply(exec, REFUSED, [option]) === null || isInherited(option)) return option;
  const error = new Error(`A graph cannot start a thread with ${option}`);
  error.name = 'OptionRefused';
  throw error;
}

module.exports = { optionsFrom };
