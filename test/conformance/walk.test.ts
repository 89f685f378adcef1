/** The walk through the sources in `src/README.md` is what a request does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';

const test = suite('conformance: the walk');
const SOURCES = new URL('../../src/', import.meta.url);
const MAX_FILES = 25;

/** The files that the numbered list of the section names, in order. */
function readWalk(): string[] {
  const page = readFileSync(new URL('README.md', SOURCES), 'utf8');
  const section = page.split(/^## /m).find((each) => each.startsWith('Follow a request'))!;
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file!);
}

const called = ({ result }: Profiler.TakePreciseCoverageReturnType): Set<string> =>
  new Set(
    result.flatMap(({ url, functions }) =>
      url.startsWith(SOURCES.href) && functions.some(({ ranges }) => ranges[0]!.count > 0)
        ? [url.slice(SOURCES.href.length)]
        : [],
    ),
  );

test('a request that creates and streams a run passes through each file of the walk', () =>
  withServer({}, async (s) => {
    // given: a thread, and a session that counts the calls of each function from now on
    const threadId = await newThread(s);
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');

    // when: a run is created and streamed until its first frame
    const body = JSON.stringify({ assistant_id: 'echo', input: say('hi') });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${s.url}/threads/${threadId}/runs/stream`, { method: 'POST', headers, body });
    const reader = reply.body!.getReader();
    let text = '';
    while (!text.includes('event: metadata')) {
      const { value } = await reader.read();
      text += Buffer.from(value!).toString();
    }
    const files = called(await session.post('Profiler.takePreciseCoverage'));
    while (!(await reader.read()).done);
    session.disconnect();

    // then: each file of the walk had a part in it
    const walk = readWalk();
    assert.ok(walk.length > 0 && walk.length <= MAX_FILES, `${walk.length} files`);
    assert.deepEqual(
      walk.filter((file) => !files.has(file)),
      [],
    );
  }));

test.run();
