import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { withPrograms } from './programs.ts';

const test = suite('demo');

const DEMO = fileURLToPath(new URL('../../src/examples/demo.ts', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../platform.json', import.meta.url));

/** What every demonstration shows, in this order, whoever serves it. */
const STEPS = [
  /^— create a thread\n\{"thread_id":"/m,
  /^— stream a run.*\nmetadata +\{"run_id":"\S+","attempt":1\}\n/m,
  /^custom +\{"token":/m,
  /^— start a run in the background, with a webhook\n/m,
  /^\{"run_id":"\S+","status":"(?:pending|running)"\}$/m,
  /^— a second run on the busy thread.*\n.*409.*already running/m,
  /^— join the first run\n\{"messages":\[/m,
  /^— read the state\n(?:human .*\nai .*\n){2}/m,
];

function assertShown(output: string, steps: readonly RegExp[]): void {
  let rest = output;
  for (const step of steps) {
    const match = step.exec(rest);
    assert.ok(match, `${step} is missing in\n${output}`);
    rest = rest.slice(match!.index + match![0].length);
  }
}

test('the demo shows the whole flow on a server of its own, with the webhook and the replay', () =>
  withPrograms(async ({ run }) => {
    const { code, output } = await run({ script: DEMO });
    assert.is(code, 0, output);
    const own = [
      /^— the webhook that arrived\n\{"run_id":.*"status":"success"/m,
      /^— replay the thread's log\n/m,
    ];
    assertShown(output, [
      ...STEPS,
      ...own,
      /  thread created\n/,
      /  webhook \S+ delivered at attempt 1: 200 in/,
    ]);
  }));

test('the demo shows the flow on a server that runs already, and says why no webhook can arrive', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const server = await serve({
      args: ['--config', EXAMPLES, '--data', join(dir, 'data')],
      env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'false' },
    });
    const { code, output } = await run({ script: DEMO, args: ['--url', server.url] });
    assert.is(code, 0, output);
    assert.match(output, `server ${server.url}\n`);
    assertShown(output, [...STEPS, /^— replay the thread's log\n/m]);
    assert.match(output, 'this server denies loopback receivers');
  }));

test.run();
