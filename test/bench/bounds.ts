/**
 * What a server cannot exceed on this machine, whatever it is: two engines that share its cores, and bare servers that
 * run the engine in threads and keep as few rows as keeping what was promised takes.
 */
import type { BareOrder, Figure, Flow } from './figures.ts';
import { askEngine, askLoop, withBare, withBusyEngine } from './parts.ts';
import type { Row } from './table.ts';

export async function measureBounds(
  lanes: number,
  seconds: number,
  report: (row: Row) => void,
  say: (line: string) => void,
): Promise<void> {
  const bare = async (what: BareOrder['what'], flow: Flow): Promise<Figure> => {
    const figure = await withBare(what, (base) =>
      askLoop({ kind: 'loop', base, flow, graph: 'agent', lanes, seconds }),
    );
    say(`  bare server (${what}): ${figure.perSecond.toFixed(0)} /s`);
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
  const threads = 'engine in 2 threads behind bare Hono';
  compare(`bound: ${threads}, of the engine`, await bare('engine', 'wait'), alone, 'engine');
  const kept = 'its order and its state kept as a row each';
  compare(`bound: ${threads}, ${kept}`, await bare('engine and rows', 'wait'), alone, 'engine');
  const hono = await bare('hono', 'post');
  compare(
    'bound: bare Hono that keeps a row, of one that does not',
    await bare('rows', 'post'),
    hono,
    'Hono',
  );
}
