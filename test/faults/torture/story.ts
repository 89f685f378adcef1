/** S2 The events of one thread, read again and again: what was read before comes again the same, and then comes more. */
import type { ServerProgram } from '../../e2e/programs.ts';

export interface Story {
  /** Reads from the beginning and from the middle, to the end of so many runs, which is all there are. */
  read(server: ServerProgram, runs: number): Promise<void>;
}

interface Heard {
  readonly id: string;
  readonly text: string;
}

const CHANNELS = ['values', 'updates', 'messages', 'lifecycle', 'checkpoints', 'tasks'];

export function openStory(path: string, problems: string[]): Story {
  let heard: readonly Heard[] = [];

  return {
    async read(server, runs) {
      const all = await readEvents(server, path, {}, runs);
      const before = JSON.stringify(heard);
      if (JSON.stringify(all.slice(0, heard.length)) !== before)
        problems.push(`${path}: ${heard.length} events were read before and are others now`);
      const places = all.map(({ id }) => id.split('-').map(Number) as [number, number]);
      for (const [i, [turn, index]] of places.entries()) {
        const [lastTurn, lastIndex] = places[i - 1] ?? [0, 0];
        const isNext = turn === lastTurn ? index > lastIndex : turn > lastTurn;
        if (i > 0 && !isNext)
          problems.push(`${path}: event ${turn}-${index} follows ${lastTurn}-${lastIndex}`);
      }
      heard = all;
      const at = all.length >> 1;
      const since = { since_event_id: all[at]!.id };
      const left = runs - all.slice(0, at + 1).filter(isEnd).length;
      const rest = left === 0 ? [] : await readEvents(server, path, since, left);
      if (JSON.stringify(rest) !== JSON.stringify(all.slice(at + 1)))
        problems.push(`${path}: after event ${since.since_event_id} others follow than when read in one go`);
    },
  };
}

const isEnd = ({ text }: Heard): boolean => {
  const { method, params } = JSON.parse(text);
  const ends = ['completed', 'failed', 'interrupted'];
  return method === 'lifecycle' && params.namespace.length === 0 && ends.includes(params.data.event);
};

async function readEvents(server: ServerProgram, path: string, more: object, runs: number): Promise<Heard[]> {
  const response = await server.open('POST', `${path}/stream/events`, { channels: CHANNELS, ...more });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const heard: Heard[] = [];
  let ends = 0;
  for (let rest = ''; ends < runs;) {
    const { done, value } = await reader.read();
    if (done) throw new TypeError('terminated');
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const match = /^event: \S+\ndata: (.*)\nid: (\S+)$/m.exec(block);
      if (match === null || ends === runs) continue;
      const event = { id: match[2]!, text: match[1]! };
      heard.push(event);
      if (isEnd(event)) ends += 1;
    }
  }
  await reader.cancel();
  return heard;
}
