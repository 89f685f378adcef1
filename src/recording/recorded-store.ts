/** Answers the item store's requests of a re-executed run, each in its turn. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { Agreement } from './agreement.ts';
import { numberedFrom, type Arrivals } from './arrivals.ts';
import type { StorePart, TaskKey } from './parts.ts';
import { fromFailure } from './replies.ts';
import { withoutIds } from './request.ts';

export interface UnusedWrite {
  readonly task: TaskKey;
  readonly request: Json;
}

interface Recorded {
  readonly part: StorePart;
  readonly request: Json;
  readonly answer: Json;
}

/** `recorded`: the next request of the task, if there is one. Returns the error for the code. */
type OnMissing = (task: TaskKey, recorded: Json | undefined, found: Json) => Error;

export interface RecordedStore {
  /** Resolves when all answers have arrived. `tasks` asked, by request. */
  answers(requests: readonly Json[], tasks: readonly TaskKey[], onMissing: OnMissing): Promise<Json[]>;
  /** Recorded writes that the code did not make. */
  unusedWrites(): UnusedWrite[];
}

export function openRecordedStore(
  batches: ReadonlyMap<TaskKey, readonly StorePart[]>,
  arrivals: Arrivals,
  isWhole: boolean,
  agrees: Agreement,
): RecordedStore {
  const left = new Map(
    [...batches].map(([task, parts]) => [
      task,
      parts.flatMap((part) =>
        part.requests.map((request, at): Recorded => ({ part, request, answer: part.answers?.[at] ?? null })),
      ),
    ]),
  );
  /** Requests of one batch arrive together. */
  const arrived = new Map<number, Promise<void>>();
  const form = (request: Json): string =>
    isWhole ? JSON.stringify(request) : withoutIds(JSON.stringify(request));

  function take(request: Json, task: TaskKey, onMissing: OnMissing): Recorded {
    const own = left.get(task) ?? [];
    const wanted = form(request);
    const exact = own.findIndex((each) => form(each.request) === wanted);
    const index = exact >= 0 ? exact : own.findIndex((each) => agrees(form(each.request), wanted));
    if (index < 0) throw onMissing(task, closestTo(request, own)?.request, request);
    return own.splice(index, 1)[0]!;
  }

  function arrival({ attempt, ended }: StorePart): Promise<void> {
    const [number] = numberedFrom(attempt, ended);
    // What had not arrived when the attempt ended never does.
    if (number === undefined) return new Promise(() => undefined);
    let known = arrived.get(number);
    if (known === undefined) {
      known = new Promise((resolve) => arrivals.expect(number, resolve));
      arrived.set(number, known);
    }
    return known;
  }

  return {
    async answers(requests, tasks, onMissing) {
      arrivals.touch();
      const taken = requests.map((request, at) => take(request, tasks[at]!, onMissing));
      await Promise.all(taken.map(({ part }) => arrival(part)));
      const failure = taken.find(({ part }) => part.failure !== undefined)?.part.failure;
      if (failure !== undefined) throw fromFailure(failure);
      return taken.map(({ answer }) => answer);
    },
    unusedWrites: () =>
      [...left].flatMap(([task, own]) =>
        own.filter(({ request }) => writes(request)).map(({ request }) => ({ task, request })),
      ),
  };
}

/** The request of the same kind for the same item, else the next one. */
const closestTo = (request: Json, own: readonly Recorded[]): Recorded | undefined =>
  own.find((each) => itemOf(each.request) === itemOf(request)) ?? own[0];

function itemOf(request: Json): string {
  const { kind = null, namespace = null, key = null } = request as JsonObject;
  return JSON.stringify([kind, namespace, key]);
}

const writes = (request: Json): boolean =>
  isObject(request) && (request['kind'] === 'put' || request['kind'] === 'delete');
