/**
 * What each open run has against it, kept beside the log from its facts.
 *
 * X6 A run is charged with the death of the server only as the one suspect whose code had begun and that had saved
 * nothing. A run that kills the server every time does so eight times at most, the first of them after it has saved a
 * step; more often only when suspects beside it kept a death from being charged.
 */
import assert from 'node:assert/strict';
import type { ThreadEventMap } from '../../src/thread/events.ts';

interface Account {
  deaths: number;
  charges: number;
  incarnation: string | undefined;
  begun: boolean;
  saved: boolean;
  kills: number;
  /** Deaths that charged none of several suspects, this run among them. */
  unclear: number;
}

export interface Accounts {
  /** A process starts, and judges what the one before has left. */
  boot(): void;
  started(runId: string, fact: ThreadEventMap['RunStarted']): void;
  begun(runId: string): void;
  saved(fact: ThreadEventMap['CheckpointSaved']): void;
  requeued(fact: ThreadEventMap['RunRequeued']): void;
  ended(runId: string): void;
  killed(runId: string): void;
}

const MAX_KILLS = 8;

export function createAccounts(): Accounts {
  const accounts = new Map<string, Account>();
  const executing = new Set<string>();
  /** By the life of the server that was lost: the suspects that it left to the process which judges. */
  const left = new Map<string, readonly string[]>();

  const isPossible = ({ deaths, begun, saved }: Account): boolean => deaths >= 2 && begun && !saved;
  function suspectsOf(incarnation: string): readonly string[] {
    const known = left.get(incarnation);
    if (known !== undefined) return known;
    const found = [...executing].filter((runId) => {
      const account = accounts.get(runId)!;
      return account.incarnation === incarnation && isPossible(account);
    });
    left.set(incarnation, found);
    return found;
  }

  return {
    boot: () => left.clear(),
    started(runId, { attempt, incarnation }) {
      const known = accounts.get(runId) ?? { deaths: 0, charges: 0, kills: 0, unclear: 0 };
      accounts.set(runId, { ...known, incarnation, begun: attempt === 1, saved: false });
      executing.add(runId);
    },
    begun(runId) {
      accounts.get(runId)!.begun = true;
    },
    saved({ runId, source }) {
      if (source === 'loop') Object.assign(accounts.get(runId)!, { deaths: 0, charges: 0, saved: true });
    },
    requeued({ runId, lost, deaths, charges, incarnation }) {
      const account = accounts.get(runId)!;
      if (incarnation !== undefined) {
        const suspects = suspectsOf(incarnation);
        const died = account.begun && !account.saved ? 1 : 0;
        const charged = suspects.length === 1 && suspects[0] === runId ? 1 : 0;
        assert.equal(lost, account.begun, `X6 run ${runId} lost an attempt that had not begun`);
        assert.equal(deaths - account.deaths, died, `X6 the deaths of run ${runId}`);
        assert.equal(charges - account.charges, charged, `X6 the charges of run ${runId}`);
        if (charged === 0 && suspects.includes(runId)) account.unclear += 1;
      } else if (!lost)
        assert.deepEqual([deaths, charges], [account.deaths, account.charges], `X6 run ${runId}`);
      Object.assign(account, { deaths, charges });
      executing.delete(runId);
    },
    ended: (runId) => void executing.delete(runId),
    killed(runId) {
      const account = accounts.get(runId)!;
      account.kills += 1;
      assert.ok(
        account.kills <= MAX_KILLS + account.unclear,
        `X6 run ${runId} killed the server ${account.kills} times, ${account.unclear} of them beside other suspects`,
      );
    },
  };
}
