/** Figures under load: this server as a process, and what it is compared with. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withTempDir } from '../support/temp-dir.ts';
import { startProcess, type ServerProcess } from '../support/with-process.ts';
import { percentile, type Figure, type Flow, type StreamFigures } from './figures.ts';
import { askEngine, askLoop, askStreams, askTurns, withBare } from './parts.ts';
import { measureBounds } from './bounds.ts';
import { startPeer } from './peer.ts';
import type { Row } from './table.ts';

export const LANES = 32;
const STREAMS = { streams: 500, frames: 300, everyMs: 50 };
/** Frames of each stream before those that count. */
const STREAMS_WARM = 100;
const STREAMS_ROUNDS = 3;
const TURNS = 1_000;
/** How many turns at both ends of a conversation are compared. */
const END = 50;

export type Report = (row: Row) => void;
type Measure = (name: string, flow: Flow, lanes: number, graph?: string) => Promise<Figure>;

export const configOf = (name: string): string =>
  fileURLToPath(new URL(`./project/${name}`, import.meta.url));

/** Lends this server on an empty directory. */
export const withServerProcess = <T>(
  use: (server: ServerProcess & { readonly dir: string }) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> =>
  withTempDir(async (dir) => {
    const server = await startProcess({
      dir: join(dir, 'data'),
      config: configOf('platform.json'),
      env,
    });
    try {
      return await use({ ...server, dir: join(dir, 'data') });
    } finally {
      await server.end('SIGTERM');
    }
  });

const measureOn =
  (
    base: string,
    seconds: number,
    say: (line: string) => void,
    watched?: { pid: number; dir: string },
  ): Measure =>
  async (name, flow, lanes, graph = 'agent') => {
    const more = watched && { watched };
    const figure = await askLoop({ kind: 'loop', base, flow, graph, lanes, seconds, ...more });
    const { perSecond, p50, p99, firstP50 } = figure;
    const first = firstP50 === undefined ? '' : `, first frame p50 ${firstP50.toFixed(1)} ms`;
    say(
      `  ${name}: ${perSecond.toFixed(1)} /s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${first}${cpuOf(figure)}`,
    );
    return figure;
  };

const cpuOf = ({ cpuMs, writtenKb, keptKb }: Figure): string =>
  (cpuMs === undefined ? '' : `, ${cpuMs.toFixed(2)} ms of processor each`) +
  (writtenKb === undefined ? '' : `, ${writtenKb.toFixed(1)} KB written, ${keptKb?.toFixed(1)} kept`);

/** Processor time of server and workers without the engine's own. */
const reportOwnCost = (report: Report, name: string, bar: number, own: Figure, alone?: Figure): void =>
  report({
    ...{ name: `own cost, ${name}`, value: (own.cpuMs ?? NaN) - (alone?.cpuMs ?? 0), unit: 'ms' },
    ...{ bar: { atMost: bar }, against: `server and workers${cpuOf(own)}` },
  });

const beside = (what: string, figure: Figure | undefined, own: Figure): string =>
  figure === undefined
    ? ''
    : `${what} ${figure.perSecond.toFixed(0)} /s (${(own.perSecond / figure.perSecond).toFixed(2)} ×)`;

/** The names that `wants` says yes to. `seconds` for each figure. */
export async function measureLoad(
  wants: (name: string) => boolean,
  seconds: number,
  report: Report,
  say: (line: string) => void,
): Promise<void> {
  const engine = async (lanes: number): Promise<Figure> => {
    const figure = await askEngine({ kind: 'engine', lanes, seconds });
    say(
      `  engine alone, ${lanes} at a time: ${figure.perSecond.toFixed(1)} /s, p50 ${figure.p50.toFixed(1)} ms${cpuOf(figure)}`,
    );
    return figure;
  };
  const peer = wants('peer') ? await measurePeer(seconds, say) : undefined;

  const rows: Record<string, (measure: Measure) => Promise<void>> = {
    async wait32(measure) {
      const [own, alone] = [await measure('run and wait', 'wait', LANES), await engine(LANES)];
      const against = [beside('engine', alone, own), beside('dev server', peer?.wait32, own)];
      report({
        ...{ name: `run and wait, ${LANES} connections, of the engine`, unit: '×' },
        ...{ value: own.perSecond / alone.perSecond, bar: { atLeast: 0.7 } },
        against: [`own ${own.perSecond.toFixed(0)} /s${cpuOf(own)}`, `engine${cpuOf(alone)}`, ...against]
          .filter(Boolean)
          .join(', '),
      });
      reportOwnCost(report, `run and wait, ${LANES} connections`, 0.8, own, alone);
    },
    async wait1(measure) {
      const [own, alone] = [await measure('run and wait', 'wait', 1), await engine(1)];
      report({
        ...{ name: 'run and wait, one at a time, p50 over the engine', unit: 'ms' },
        ...{ value: own.p50 - alone.p50, bar: { atMost: 3 } },
        against: [
          `own ${own.p50.toFixed(1)} ms, engine ${alone.p50.toFixed(1)} ms`,
          ...(peer ? [`dev server ${peer.wait1.p50.toFixed(0)} ms`] : []),
        ].join(', '),
      });
    },
    async stream32(measure) {
      const own = await measure('thread + stream', 'thread-stream', LANES);
      reportOwnCost(report, `thread + stream, ${LANES} connections`, 1.5, own, await engine(LANES));
      report({
        ...{ name: `thread + stream, ${LANES} connections, first frame p50`, unit: 'ms' },
        ...{ value: own.firstP50 ?? NaN, bar: { atMost: 40 } },
        against: peer
          ? `dev server ${peer.stream32.firstP50?.toFixed(0)} ms; ${beside('dev server', peer.stream32, own)}`
          : '',
      });
    },
    async flow32(measure) {
      const own = await measure('thread + wait + state', 'thread-wait-state', LANES);
      const against = beside('dev server', peer?.flow32, own);
      report({
        name: `thread + wait + state, ${LANES} connections`,
        value: own.perSecond,
        unit: '/s',
        against,
      });
    },
    async plain32(measure) {
      const own = await measure('run and wait, plain function', 'wait', LANES, 'plain');
      const { perSecond } = own;
      reportOwnCost(report, `plain function, ${LANES} connections`, 0.6, own);
      const name = `run and wait, plain function, ${LANES} connections`;
      report({ name, value: perSecond, unit: '/s', bar: { atLeast: 1_200 } });
    },
    async threads(measure) {
      const own = await measure('create thread', 'thread', LANES);
      const bare: Figure[] = [];
      for (const kind of ['http', 'hono'] as const)
        bare.push(
          await withBare(kind, (base) => measureOn(base, seconds, say)(`bare ${kind}`, 'post', LANES)),
        );
      report({
        ...{ name: `create thread, ${LANES} connections, of bare Hono`, unit: '×' },
        ...{ value: own.perSecond / bare[1]!.perSecond, bar: { atLeast: 0.5 } },
        against: [
          `own ${own.perSecond.toFixed(0)} /s`,
          beside('Hono', bare[1], own),
          beside('node:http', bare[0], own),
          beside('dev server', peer?.threads, own),
        ]
          .filter(Boolean)
          .join(', '),
      });
    },
    async reject(measure) {
      const { perSecond } = await measure('rejected run', 'reject', LANES);
      const name = `rejected run on a busy thread, ${LANES} connections`;
      report({ name, value: perSecond, unit: '/s', bar: { atLeast: 2_000 } });
    },
  };
  const wanted = Object.keys(rows).filter(wants);
  if (wanted.length > 0)
    await withServerProcess(async ({ url, ...watched }) => {
      for (const name of wanted) await rows[name]!(measureOn(url, seconds, say, watched));
    });
  if (wants('bounds')) await measureBounds(LANES, seconds, report, say);
  if (wants('turns')) await measureTurns(report);
  if (wants('streams')) await measureStreams(report);
}

interface PeerFigures {
  readonly wait1: Figure;
  readonly wait32: Figure;
  readonly stream32: Figure;
  readonly flow32: Figure;
  readonly threads: Figure;
}

/** Left out when it cannot be had: it needs a package registry. */
async function measurePeer(seconds: number, say: (line: string) => void): Promise<PeerFigures | undefined> {
  return withTempDir(async (dir) => {
    say('installing the dev server …');
    const peer = await startPeer(dir).catch((error: unknown) => {
      say(`the dev server is left out: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
    if (peer === undefined) return undefined;
    try {
      say(`  dev server: first answer after ${(peer.startMs / 1000).toFixed(1)} s`);
      const measure = measureOn(peer.base, seconds, (line) => say(line.replace('  ', '  dev server, ')));
      return {
        wait1: await measure('run and wait', 'wait', 1),
        wait32: await measure('run and wait', 'wait', LANES),
        stream32: await measure('thread + stream', 'thread-stream', LANES),
        flow32: await measure('thread + wait + state', 'thread-wait-state', LANES),
        threads: await measure('create thread', 'thread', LANES),
      };
    } finally {
      await peer.close();
    }
  });
}

async function measureTurns(report: Report): Promise<void> {
  const ends = (times: readonly number[]): readonly [first: number, last: number] => [
    percentile(times.slice(0, END), 0.5),
    percentile(times.slice(-END), 0.5),
  ];
  const alone = ends(await askTurns({ kind: 'engine-turns', turns: TURNS }));
  const own = ends(
    await withServerProcess(({ url }) =>
      askTurns({ kind: 'turns', base: url, graph: 'agent', turns: TURNS }),
    ),
  );
  const [first, last] = [own[0] - alone[0], own[1] - alone[1]];
  const show = (of: readonly number[]): string => of.map((ms) => ms.toFixed(1)).join(' → ');
  report({
    ...{ name: `${TURNS} turns on one thread, the last turn's own cost of the first's`, unit: '×' },
    ...{ value: last / first, bar: { atMost: 1.5 } },
    against: `own ${show(own)} ms, engine ${show(alone)} ms, difference ${show([first, last])} ms`,
  });
}

async function measureStreams(report: Report): Promise<void> {
  const rounds = await withServerProcess(
    async ({ url }) => {
      const order = { kind: 'streams', base: url, graph: 'ticker', ...STREAMS } as const;
      await askStreams({ ...order, frames: STREAMS_WARM });
      const rounds: StreamFigures[] = [];
      for (let i = 0; i < STREAMS_ROUNDS; i++) rounds.push(await askStreams(order));
      return rounds.sort((a, b) => a.addedP99 - b.addedP99);
    },
    { PLATFORM_CONCURRENCY: String(STREAMS.streams) },
  );
  // The one in the middle: a disk that stands still for half a second is not what is measured.
  const figures = rounds[STREAMS_ROUNDS >> 1]!;
  const all = rounds.map(({ addedP99 }) => addedP99.toFixed(0)).join(', ');
  const name = `${STREAMS.streams} streams × ${1000 / STREAMS.everyMs} frames/s`;
  const share = `${(100 * figures.share).toFixed(1)} % of the frames came, ${figures.seconds.toFixed(1)} s`;
  // No more can come than is sent, and the edges of the time that counts cut a frame off here and there.
  const bar = { atLeast: 0.99 * (1000 / STREAMS.everyMs) * STREAMS.streams };
  report({ name, value: figures.framesPerSecond, unit: 'frames/s', against: share, bar });
  report({
    ...{ name: `${name}, added p99`, value: figures.addedP99, unit: 'ms', bar: { atMost: 100 } },
    against: `p50 ${figures.addedP50.toFixed(0)} ms; p99 of all rounds ${all} ms`,
  });
}
