/**
 * What a server cannot exceed on this machine, whatever it is: two engines that share its cores, and bare servers that
 * run the engine in threads and keep as few rows as keeping what was promised takes.
 */
import type { BareOrder, Figure, Flow } from './figures.ts';
import { askEngine, askLoop, withBare, withBusyEngine } from './parts.ts';
import type { Row } from './table.ts';

const THREADS = 'engine in 2 threads behind bare Hono';
const KEPT = 'its order and its state kept as a row each';
/** About what a server's other threads take of a request that comes alone. */
const REST_MS = 6;

export async function measureBounds(
  lanes: number,
  seconds: number,
  report: (row: Row) => void,
  say: (line: string) => void,
): Promise<void> {
  const bare = async (what: BareOrder['what'], flow: Flow, at = lanes): Promise<Figure> => {
    const figure = await withBare(what, (base) =>
      askLoop({ kind: 'loop', base, flow, graph: 'agent', lanes: at, seconds }),
    );
    const { perSecond, p50 } = figure;
    say(`  bare server (${what}), ${at} at a time: ${perSecond.toFixed(0)} /s, p50 ${p50.toFixed(1)} ms`);
    return figure;
  };
  const compare = (name: string, own: Figure, other: Figure, what: string): void =>
    report({
      ...{ name, value: own.perSecond / other.perSecond, unit: '×' },
      against: `${own.perSecond.toFixed(0)} /s, ${what} ${other.perSecond.toFixed(0)} /s`,
    });

  const order = { kind: 'engine', lanes, seconds } as const;
  const alone = await askEngine(order);
  const shared = await withBusyEngine(() => askEngine(order));
  report({
    ...{ name: 'bound: two engines at once, both together of one alone', unit: '×' },
    value: (2 * shared.perSecond) / alone.perSecond,
    against: `one of the two ${shared.perSecond.toFixed(0)} /s, alone ${alone.perSecond.toFixed(0)} /s`,
  });
  compare(`bound: ${THREADS}, of the engine`, await bare('engine', 'wait'), alone, 'engine');
  compare(`bound: ${THREADS}, ${KEPT}`, await bare('engine and rows', 'wait'), alone, 'engine');
  await measureOneAtATime(seconds, report, () => bare('engine and rows', 'wait', 1));
  const hono = await bare('hono', 'post');
  compare(
    'bound: bare Hono that keeps a row, of one that does not',
    await bare('rows', 'post'),
    hono,
    'Hono',
  );
}

/** What rests between two runs finds its caches taken. */
async function measureOneAtATime(
  seconds: number,
  report: (row: Row) => void,
  bare: () => Promise<Figure>,
): Promise<void> {
  const order = { kind: 'engine', lanes: 1, seconds } as const;
  const hot = await askEngine(order);
  const rested = await askEngine({ ...order, restMs: REST_MS });
  report({
    ...{ name: `bound: engine with ${REST_MS} ms of rest between runs, p50 over one without`, unit: 'ms' },
    value: rested.p50 - hot.p50,
    against: `${cpuOf(rested)} of processor each, without rest ${cpuOf(hot)}`,
  });
  const served = await bare();
  report({
    ...{ name: `bound: ${THREADS}, ${KEPT}, one at a time, p50 over the engine`, unit: 'ms' },
    value: served.p50 - hot.p50,
    against: `${served.p50.toFixed(1)} ms, engine ${hot.p50.toFixed(1)} ms`,
  });
}

const cpuOf = ({ cpuMs = 0 }: Figure): string => `${cpuMs.toFixed(1)} ms`;
