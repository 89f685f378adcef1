/**
 * The receivers of webhooks, good and bad.
 *
 * W1 Nothing is recorded as delivered that no receiver accepted. W2 Every attempt of a delivery brings the same id and
 * the same bytes. W3 A receiver gets a few at once.
 */
import assert from 'node:assert/strict';
import type { HttpOut, Posted } from '../../src/effects/http-out.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Random } from '../support/random.ts';
import type { Faults } from './faults.ts';
import type { Schedule } from './schedule.ts';

/** What has happened after which a server may send again what another has delivered. */
export interface Disruptions {
  readonly count: number;
  /** `at`: when it happens, by the schedule; now without. */
  add(at?: number): void;
}

export function countDisruptions(now: () => number): Disruptions {
  const times: number[] = [];
  return {
    get count() {
      return times.filter((at) => at <= now()).length;
    },
    add: (at = now()) => void times.push(at),
  };
}

export interface Receivers {
  /** A URL for a new run, of one of a few hosts. */
  pickUrl(): string;
  /** The way out of one process. */
  connect(clock: Clock, isAlive: () => boolean): SimulatedOut;
  /** Throws unless a receiver has answered this delivery with success. */
  assertAccepted(deliveryId: string): void;
  readonly accepted: ReadonlySet<string>;
  isDead(url: string): boolean;
}

interface SimulatedOut extends HttpOut {
  readonly underWay: number;
}

const DEADLINE_MS = 10_000;
const PER_HOST = 4;

export function createReceivers(
  schedule: Schedule,
  random: Random,
  faults: Faults,
  disruptions: Disruptions,
): Receivers {
  const bodies = new Map<string, string>();
  const accepted = new Set<string>();
  /** Deliveries whose success a server was told, and how many disruptions there had been when it sent. */
  const answered = new Map<string, number>();
  const isFlaky = random.chance(0.5);
  const hasDead = random.chance(0.06);
  const hosts = ['a.example', 'b.example', ...(hasDead ? ['dead.example'] : [])];
  const isDead = (url: string): boolean => new URL(url).host === 'dead.example';

  function receive(url: string, headers: Record<string, string>, body: string): string {
    const id = headers['webhook-id'];
    assert.ok(id !== undefined, 'W2 a webhook without an id');
    const before = bodies.get(id) ?? body;
    assert.equal(body, before, `W2 webhook ${id} changed from one attempt to the next`);
    bodies.set(id, body);
    assert.notEqual(answered.get(id), disruptions.count, `W2 webhook ${id} is sent again without a reason`);
    schedule.note(`  POST ${url} ${id}`);
    return id;
  }

  function behave(url: string): 'accept' | '500' | 'refuse' | 'silence' | 'vanish' {
    if (isDead(url)) {
      faults.count('receiver never recovers');
      return '500';
    }
    if (!isFlaky || faults.over || random.chance(0.5)) return 'accept';
    const way = random.pick(['500', 'refuse', 'silence', 'vanish'] as const);
    faults.count(FAULT_OF[way]);
    return way;
  }

  function connect(clock: Clock, isAlive: () => boolean): SimulatedOut {
    const underWay = new Map<string, { host: string; sentAfter: number; end: (posted: Posted) => void }>();
    let closed = false;

    return {
      open: () => undefined,
      post(url, headers, body) {
        if (!isAlive()) return new Promise(() => undefined);
        if (closed) return Promise.resolve({ kind: 'failed', error: 'the way out is closed' });
        const id = receive(url, headers, body);
        const { host } = new URL(url);
        assert.ok(!underWay.has(id), `W2 webhook ${id} is sent twice at once`);
        const answer = new Promise<Posted>((resolve) => {
          const end = (posted: Posted): void => {
            cancel();
            underWay.delete(id);
            resolve(posted);
          };
          const cancel = clock.after(DEADLINE_MS, () =>
            end({ kind: 'failed', error: 'the receiver took too long' }),
          );
          underWay.set(id, { host, sentAfter: disruptions.count, end });
        });
        const together = [...underWay.values()].filter((other) => other.host === host).length;
        assert.ok(together <= PER_HOST, `W3 ${together} requests to ${host} at once`);
        const way = behave(url);
        if (way !== 'silence') schedule.soon(`answer of ${host}`, () => reply(id, way));
        return answer;
      },
      async close() {
        closed = true;
        for (const { end } of [...underWay.values()])
          end({ kind: 'failed', error: 'the server is stopping' });
      },
      get underWay() {
        return underWay.size;
      },
    };

    function reply(id: string, way: keyof typeof ANSWERS): void {
      if (way === 'accept' || way === 'vanish') accepted.add(id);
      const request = underWay.get(id);
      if (!isAlive() || request === undefined) return;
      if (way === 'accept') answered.set(id, request.sentAfter);
      request.end(ANSWERS[way]);
    }
  }

  return {
    pickUrl: () => `https://${random.pick(hosts)}/hook`,
    connect,
    assertAccepted: (id) => assert.ok(answered.has(id), `W1 webhook ${id} is delivered, and nobody said so`),
    accepted,
    isDead,
  };
}

const FAULT_OF = {
  '500': 'receiver answers 500',
  refuse: 'receiver refuses',
  silence: 'receiver never answers',
  vanish: 'receiver gone after it accepted',
} as const;

const ANSWERS: Record<'accept' | '500' | 'refuse' | 'vanish', Posted> = {
  accept: { kind: 'answered', status: 204 },
  '500': { kind: 'answered', status: 500 },
  refuse: { kind: 'failed', error: 'connection refused' },
  vanish: { kind: 'failed', error: 'other side closed' },
};
