/** Stages of test files of other stages, whose servers keep their logs in PostgreSQL. */

/** One file or more of each kind of request, and of each kind of work beside requests. */
const CUT = [
  'test/conformance/runs-cancel.test.ts',
  'test/conformance/runs-strategies.test.ts',
  'test/conformance/state-history.test.ts',
  'test/conformance/streams-resume.test.ts',
  'test/conformance/threads.test.ts',
  'test/conformance/webhooks.test.ts',
];

/** Servers find what is due by the time of the database, which no test moves. */
const MOVES_THE_CLOCK = 'waits for what a moved clock makes due';
const NO_SERVER = 'starts no server';

/** Files with another subject than what servers do on either engine. */
const APART: Readonly<Record<string, string>> = {
  'test/conformance/crons-firing.test.ts': MOVES_THE_CLOCK,
  'test/conformance/threads-ttl.test.ts': MOVES_THE_CLOCK,
  'test/conformance/unserved-graphs.test.ts': MOVES_THE_CLOCK,
  'test/conformance/webhooks-delivery.test.ts': MOVES_THE_CLOCK,
  'test/conformance/walk.test.ts': 'names files of its engine',
  'test/conformance/advisories-rows.test.ts': 'writes rows past the log',
  'test/conformance/encryption.test.ts': 'damages, copies and re-keys files of the log',
  'test/conformance/logs-carried.test.ts': 'carries logs between folders, and into a database of its own',
  'test/conformance/nodes.test.ts': 'has a database of its own',
  'test/conformance/threads-carried.test.ts':
    'carries threads between folders; threads-carried-http carries the others',
  'test/conformance/state-size.test.ts': NO_SERVER,
  'test/model/carried.test.ts': NO_SERVER,
  'test/model/simulation.test.ts': NO_SERVER,
  'test/model/thread-machine.test.ts': NO_SERVER,
};

const isShared = (file: string): boolean => APART[file] === undefined;

type Listing = (listTests: (stage: string) => string[]) => string[];

export const POSTGRES_STAGES: Readonly<Record<string, Listing>> = {
  postgres: () => CUT,
  'postgres-all': (listTests) => ['conformance', 'model', 'projects'].flatMap(listTests).filter(isShared),
};

export const isOnPostgres = (stage: string): boolean => stage in POSTGRES_STAGES;
