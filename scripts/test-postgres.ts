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

/** On PostgreSQL a server takes the wall time of its database, which no test moves. */
const MOVES_THE_CLOCK = 'moves the clock';

/** They look at files of SQLite, or at what only its files do. */
const OF_SQLITE: Readonly<Record<string, string>> = {
  'test/conformance/activity.test.ts': MOVES_THE_CLOCK,
  'test/conformance/auth-credentials.test.ts': MOVES_THE_CLOCK,
  'test/conformance/crons-auth.test.ts': MOVES_THE_CLOCK,
  'test/conformance/crons-firing.test.ts': MOVES_THE_CLOCK,
  'test/conformance/crons.test.ts': MOVES_THE_CLOCK,
  'test/conformance/frames-retention.test.ts': MOVES_THE_CLOCK,
  'test/conformance/runs-once.test.ts': MOVES_THE_CLOCK,
  'test/conformance/store-ttl.test.ts': MOVES_THE_CLOCK,
  'test/conformance/threads-ttl.test.ts': MOVES_THE_CLOCK,
  'test/conformance/unserved-graphs.test.ts': MOVES_THE_CLOCK,
  'test/conformance/walk.test.ts': 'names files of its engine',
  'test/conformance/webhooks-delivery.test.ts': MOVES_THE_CLOCK,
  'test/conformance/webhooks-ends.test.ts': MOVES_THE_CLOCK,
  'test/conformance/webhooks-records.test.ts': MOVES_THE_CLOCK,
  'test/conformance/advisories-rows.test.ts': 'writes rows past the log',
  'test/conformance/encryption.test.ts': 'damages, copies and re-keys files of the log',
  'test/conformance/logs-carried.test.ts': 'carries logs between folders, and into a database of its own',
  'test/conformance/nodes.test.ts': 'has a database of its own',
  'test/conformance/threads-carried.test.ts':
    'carries threads between folders; threads-carried-http carries the others',
};

const isShared = (file: string): boolean => OF_SQLITE[file] === undefined;

type Listing = (listTests: (stage: string) => string[]) => string[];

export const POSTGRES_STAGES: Readonly<Record<string, Listing>> = {
  postgres: () => CUT,
  'postgres-all': (listTests) => ['conformance', 'model', 'projects'].flatMap(listTests).filter(isShared),
};

export const isOnPostgres = (stage: string): boolean => stage in POSTGRES_STAGES;
