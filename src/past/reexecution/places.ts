/** Names places in a run: those that task keys stand for, and where requests differ. */
import type { Json } from '../../kernel/json.ts';
import type { RecordedRequest } from '../../recording/parts.ts';
import { LOADING, type Player, type RequestDifference } from '../../recording/player.ts';
import type { Difference, ValueDifference } from '../compare/difference.ts';
import { compareValues, type Side } from '../compare/values.ts';

export function stepOfTask(task: string): Pick<Difference, 'step' | 'node'> {
  const [step, node = ''] = task.split(' ');
  return task === '' ? {} : { step: Number(step), node };
}

export const placeOfTask = (task: string): string => {
  const [step, node] = task.split(' ');
  if (task === LOADING) return 'the graph, while it loads';
  return task === '' ? 'the run, outside of its nodes' : `node ${node}, step ${step}`;
};

/** A module of the recorded worker had the answer from another run. */
export const answeredBefore = ({ task, found }: RequestDifference): string =>
  `a request (${found.method} ${found.url}) in ${placeOfTask(task)} was answered before this run`;

/** Nothing may differ. */
const STRICT: Side = { ids: new Set(), from: 0, until: -1, isLoose: false };

const differenceOf = (recorded: Json, found: Json, agrees: Player['agrees']): ValueDifference | undefined =>
  compareValues(recorded, found, { recorded: STRICT, found: STRICT, agrees });

/** `path`: where the request differs from the recorded one, such as `body.messages[0].content`. */
export type PlacedRequest = RequestDifference & { readonly path?: string };

export function withPlace(difference: RequestDifference, agrees: Player['agrees']): PlacedRequest {
  const { recorded, found } = difference;
  const place = recorded && differenceOf(membersOf(recorded), membersOf(found), agrees);
  return { ...difference, ...(place && { path: place.path }) };
}

function membersOf({ method, url, contentType, body = new Uint8Array() }: RecordedRequest): Json {
  const { origin, pathname, searchParams } = new URL(url);
  const text = Buffer.from(body).toString('utf8');
  const query = Object.fromEntries(searchParams);
  return { method, url: origin + pathname, query, body: parsed(text), contentType: contentType ?? null };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // The body is not JSON.
    return text;
  }
}

/** A request to the item store that differs: its path is namespace, key and place, such as `users/ada/profile.name`. */
export function storeDifference(
  task: string,
  recorded: Json | undefined,
  found: Json | undefined,
  agrees: Player['agrees'],
): Difference {
  const { prefix, namespace = prefix, key } = (found ?? recorded) as StoreAddress;
  const difference =
    recorded === undefined || found === undefined ? undefined : differenceOf(recorded, found, agrees);
  const place = difference?.path.replace(/^value\.?/, '') ?? '';
  const path = [...(namespace ?? []), key, place].filter((part) => part !== undefined && part !== '');
  return { what: 'store', ...stepOfTask(task), path: path.join('/'), recorded, found };
}

interface StoreAddress {
  readonly namespace?: readonly string[];
  readonly prefix?: readonly string[];
  readonly key?: string;
}
