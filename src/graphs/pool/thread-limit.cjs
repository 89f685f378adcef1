/**
 * How many threads the graphs of the process may have together. Each takes some 5 MB and its share of the cores, and
 * hundreds of them keep the server from watching them.
 *
 * Linux alone tells, by the links of a folder that has one for each thread. A count of our own would be wrong when a thread ends
 * whose threads end with it.
 */
'use strict';
const { statSync } = require('node:fs');
const { availableParallelism } = require('node:os');

/** Node's threads for files, zlib and crypto are no graph's doing. */
const shared = Math.min(Number(process.env.UV_THREADPOOL_SIZE) || 4, 128);
/** The server's own among them: some fifteen, and a worker or two for each core. */
const MOST = 128 + 4 * availableParallelism() + shared;
/** The folder's own links. */
const OWN = 2;
// What it says is for no graph to decide.
const AS_IT_IS = { __proto__: null, throwIfNoEntry: false };

function checkThreads() {
  const folder = statSync('/proc/self/task', AS_IT_IS);
  if (folder === undefined || folder.nlink - OWN < MOST) return;
  const error = new Error(
    `The process has ${folder.nlink - OWN} threads: graphs may start none beyond ${MOST}`,
  );
  error.name = 'ThreadLimit';
  throw error;
}

module.exports = { checkThreads };
