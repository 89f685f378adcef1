/** Recordings that cannot decide about a run cost a reason, never a verdict or a stack. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zstdCompressSync } from 'node:zlib';
import type { History } from '../../src/store/port/past.ts';
import { storeAt } from '../../src/open-store.ts';
import { rerun } from '../../src/past/reexecution/command.ts';
import { packPart, type RecordingPart } from '../../src/recording/parts.ts';
import { unpackPart } from '../../src/recording/unpack.ts';
import { suite } from '../support/suite.ts';
import { withModelServer } from './model-server.ts';
import { withPrograms, type ServerProgram } from './programs.ts';

const test = suite('recordings that do not fit');

const CONFIG = fileURLToPath(new URL('../fixtures/recorded', import.meta.url));
const FILE = join(CONFIG, 'unchanged.ts');

interface Scene {
  readonly data: string;
  readonly thread: string;
  readonly run: string;
  /** `planted`: changes of the code, by thread. */
  serve(planted: Readonly<Record<string, string>>): Promise<ServerProgram>;
}

/** A run of the graph `changeable`, whose server has ended. */
const withRun = (use: (scene: Scene) => Promise<void>): Promise<void> =>
  withModelServer((model) =>
    withPrograms(async (programs) => {
      const serve = (planted?: Readonly<Record<string, string>>): Promise<ServerProgram> => {
        const env = { MODEL_URL: model.url, ...(planted && { PLANTED_ON: JSON.stringify(planted) }) };
        return programs.serve({ args: ['--config', CONFIG], env });
      };
      const server = await serve();
      const { thread_id: thread } = (await server.ask('POST', '/threads', {})).json;
      const asked = { assistant_id: 'changeable', input: { seen: [] } };
      const { run_id: run } = (await server.ask('POST', `/threads/${thread}/runs`, asked)).json;
      await server.ask('GET', `/threads/${thread}/runs/${run}/join`);
      await server.end('SIGTERM');
      await use({ data: join(programs.dir, 'data'), thread, run, serve });
    }),
  );

type Change = (parts: readonly RecordingPart[]) => readonly (RecordingPart | Uint8Array)[];

const LIBRARY = '@langchain/langgraph';
const withVersion =
  (version: (recorded: string) => string): Change =>
  (parts) =>
    parts.map((part) => {
      if (part.kind !== 'start') return part;
      return { ...part, versions: { ...part.versions, [LIBRARY]: version(part.versions[LIBRARY]!) } };
    });

function partOfFormat(format: number): Buffer {
  const head = Buffer.from(JSON.stringify({ format, part: { kind: 'start', attempt: 1 }, sizes: [] }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return zstdCompressSync(Buffer.concat([length, head]));
}

/** What the report says of each change of a recording. */
const UNTRIED: readonly (readonly [Change, RegExp])[] = [
  [(parts) => [partOfFormat(3), ...parts], /cannot be read: the recording has format 3, expected \d$/],
  [(parts) => [Buffer.from('no part'), ...parts], /cannot be read: a part is damaged/],
  [
    (parts) => [...parts, { kind: 'cut', attempt: 1, maxBytes: 5 }],
    /the recording was cut at 5 bytes \(recording.max_bytes\)$/,
  ],
  [
    (parts) => parts.map((part) => (part.kind === 'exchange' ? { ...part, digest: 'other' } : part)),
    /the recording is damaged: exchange 1 has another digest$/,
  ],
  [(parts) => parts.filter(({ kind }) => kind !== 'start'), /the recording has no beginning$/],
  [withVersion(() => '0.2.74'), /was made with @langchain\/langgraph 0.2.74, and the project has \d\S+$/],
];

test('a recording that is cut, damaged, of another format or line is not tried, with the reason and code 3', () =>
  withRun(async ({ data, thread, run }) => {
    // given
    const altered = (change: Change) => async (): Promise<History> => {
      const past = await storeAt(data).openPast();
      const recording = async (): Promise<Uint8Array[]> => {
        const parts = (await past.payloads.recording(run)).map(unpackPart);
        return change(parts).map((part) => (part instanceof Uint8Array ? part : packPart(part)));
      };
      return { ...past, payloads: { ...past.payloads, recording } };
    };
    const replay = async (changes: readonly Change[]): Promise<{ code: number; output: string }> => {
      const lines: string[] = [];
      const host = {
        graphs: [{ id: 'changeable', file: FILE, exportName: 'changeable' }],
        ...{ timeoutMs: 60_000, print: (line: string) => void lines.push(line) },
        ...{ env: {}, cwd: CONFIG, folders: [] },
      };
      const code = await rerun(
        changes.map((change) => ({ name: thread, open: altered(change) })),
        {},
        host,
      );
      return { code, output: lines.join('\n') };
    };
    // when
    const untried = await replay(UNTRIED.map(([change]) => change));
    const patched = await replay([withVersion((recorded) => recorded.replace(/\d+$/, '999'))]);
    const unused = await replay([
      (parts) => [...parts, ...parts.filter(({ kind }) => kind === 'exchange').slice(0, 1)],
    ]);
    // then
    assert.equal(untried.code, 3, untried.output);
    const reasons = untried.output.split('\n').filter((line) => line.startsWith('not tried: '));
    assert.equal(reasons.length, UNTRIED.length, untried.output);
    for (const [at, [, reason]] of UNTRIED.entries()) assert.match(reasons[at]!, reason);
    assert.doesNotMatch(untried.output, /^ +at /m);
    assert.equal(patched.code, 0, patched.output);
    assert.equal(unused.code, 1, unused.output);
    assert.match(unused.output, /^different: request, step 2, node calls\n +recorded +"GET .*place=a"\n/m);
  }));

test('a client may allow that recorded requests are no longer made (allow_unused)', () =>
  withRun(async ({ serve, thread, run }) => {
    // given
    const server = await serve({ [thread]: 'missing request' });
    const replay = async (body: object): Promise<string> =>
      (await server.open('POST', `/threads/${thread}/runs/${run}/replay`, body)).text();
    // when
    const [strict, allowed] = [await replay({}), await replay({ allow_unused: true })];
    // then
    assert.match(strict, /"verdict":"different"/);
    assert.match(strict, /"what":"request","step":2,"node":"calls"/);
    assert.match(allowed, /"verdict":"equal"/);
  }));

test.run();
