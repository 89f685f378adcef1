/** Three servers on one database, the clock of one ten minutes ahead, while clients are at work (`npm run torture:nodes`). */
import assert from 'node:assert/strict';
import { CASES } from '../faults/nodes/cases.ts';
import { withCluster, type Cluster } from '../faults/nodes/cluster.ts';
import { runRounds } from '../faults/nodes/rounds.ts';
import { seedFromEnv } from '../support/random.ts';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type WebhookSink } from '../support/webhook-sink.ts';

const test = suite('three servers under load');
const seed = seedFromEnv();
const lent = shared<{ cluster: Cluster; sink: WebhookSink }>(test, (use) =>
  withWebhookSink((sink) => withCluster({}, (cluster) => use({ cluster, sink }))),
);

for (const [name, { title }] of Object.entries(CASES))
  test(`X1 X2 X3 X5 S1 S2 W1 P2 ${title}`, async () => {
    const all = await runRounds({ ...lent(), name, seed, rounds: 1, races: 5 });
    assert.deepEqual(
      all.flatMap(({ problems }) => problems),
      [],
    );
  });

test.run();
