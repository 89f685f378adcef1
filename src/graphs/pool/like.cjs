'use strict';

/** What stands in for a function of Node's, with its name, and with what `util.promisify` goes by. */
function like(original, guarded) {
  const { prototype, ...found } = Object.getOwnPropertyDescriptors(original);
  return Object.defineProperties(guarded, found);
}

module.exports = { like };
