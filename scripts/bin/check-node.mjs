/**
 * Exits with one line of output if Node.js is too old for the program. Entries import this module first, and its syntax
 * is readable for old versions.
 */
const MIN_NODE_MAJOR = 24;
const EXIT_USAGE = 2;

const found = process.versions.node;
if (Number(found.split('.')[0]) < MIN_NODE_MAJOR) {
  console.error(
    'Node.js: found ' +
      found +
      ' (' +
      process.execPath +
      '), expected ' +
      MIN_NODE_MAJOR +
      ' or later; ' +
      'install it from nodejs.org or with a version manager, for example "nvm install ' +
      MIN_NODE_MAJOR +
      '"',
  );
  process.exit(EXIT_USAGE);
}
