/**
 * V8 ends the whole process when a list or a table grows beyond what it can address, and what it does in one call
 * nothing interrupts: `new Array(1e9).fill(0)` eats for seconds before it comes to that, and `indexOf` walks for years
 * through what says that it has 2 ** 53 - 1 entries. So the calls that make very much of a few words are refused instead,
 * far below that size and above what fits a worker.
 */
'use strict';

/** A longer list is a table to V8, which takes three places for an entry. */
const LIST = 2 ** 25;
/** Of characters: a piece for each of them is still a list. */
const TEXT = 2 ** 26;
/** The same; of an object each entry takes several characters. */
const JSON_TEXT = 2 ** 27;

const refuse = (what, most) => {
  throw new RangeError(`${what} is more than a graph can hold in a worker: at most ${most}`);
};
const checkList = (list) => {
  if (list?.length > LIST) refuse(`A list of ${list.length} entries`, LIST);
};

const checkPieces = (text, pattern) => {
  if (text?.length > LIST && typeof pattern !== 'string')
    refuse(`A text of ${text.length} characters to replace in`, LIST);
};

/** These go through all entries, those of what only says that it is a list as well. */
const WALKS = [
  ...['sort', 'toSorted', 'reverse', 'toReversed', 'with', 'toSpliced', 'flat', 'copyWithin', 'unshift'],
  ...['indexOf', 'lastIndexOf', 'includes', 'forEach', 'filter', 'some', 'every', 'reduce', 'reduceRight'],
];

function guardLists() {
  const { fill, slice, splice } = Array.prototype;
  const { from, isArray } = Array;
  const { split, match, replace, replaceAll } = String.prototype;
  const { parse } = JSON;
  // Methods of an object, because none of them is a constructor.
  const guarded = {
    fill(...given) {
      checkList(this);
      return fill.apply(this, given);
    },
    // Of what is no list it makes a table, entry by entry, in one call.
    slice(start, end) {
      if (!isArray(this)) checkList(this);
      return slice.call(this, start, end);
    },
    splice(...given) {
      if (!isArray(this)) checkList(this);
      return splice.apply(this, given);
    },
    from(...given) {
      checkList(given[0]);
      return from.apply(this, given);
    },
    split(separator, limit) {
      if (limit !== undefined || !(this?.length > TEXT)) return split.call(this, separator, limit);
      const pieces = split.call(this, separator, TEXT);
      return pieces.length < TEXT ? pieces : refuse('A text of so many pieces', TEXT);
    },
    match(pattern) {
      if (this?.length > LIST) refuse(`A text of ${this.length} characters to match`, LIST);
      return match.call(this, pattern);
    },
    // A list of the pieces and of what stands in their place. A text for a text makes none.
    replace(pattern, made) {
      checkPieces(this, pattern);
      return replace.call(this, pattern, made);
    },
    replaceAll(pattern, made) {
      checkPieces(this, pattern);
      return replaceAll.call(this, pattern, made);
    },
    parse(text, ...given) {
      if (text?.length > JSON_TEXT) refuse(`JSON of ${text.length} characters`, JSON_TEXT);
      return parse(text, ...given);
    },
  };
  for (const name of ['fill', 'slice', 'splice']) Array.prototype[name] = guarded[name];
  for (const name of WALKS) guardWalk(name);
  Array.from = guarded.from;
  for (const name of ['split', 'match', 'replace', 'replaceAll']) String.prototype[name] = guarded[name];
  JSON.parse = guarded.parse;
}

function guardWalk(name) {
  const walk = Array.prototype[name];
  const guarded = {
    [name](...given) {
      checkList(this);
      return walk.apply(this, given);
    },
  }[name];
  // Of some it says how many are given at least.
  Object.defineProperty(guarded, 'length', { value: walk.length, configurable: true });
  Array.prototype[name] = guarded;
}

module.exports = { guardLists };
