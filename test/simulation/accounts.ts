/**
 * What each open run has against it, kept beside the log from its facts.
 *
 * X6 The server's death charges no run, and counts for those whose code had begun and that had saved nothing.
 */
import assert from 'node:assert/strict';
import type { ThreadEventMap } from '../../src/thread/events.ts';

interface Account {
  deaths: number;
  charges: number;
  begun: boolean;
  saved: boolean;
}

export interface Accounts {
  started(fact: ThreadEventMap['RunStarted']): void;
  begun(runId: string): void;
  saved(fact: ThreadEventMap['CheckpointSaved']): void;
  requeued(fact: ThreadEventMap['RunRequeued']): void;
}

export function createAccounts(): Accounts {
  const accounts = new Map<string, Account>();
  return {
    started({ runId, attempt }) {
      const known = accounts.get(runId) ?? { deaths: 0, charges: 0 };
      accounts.set(runId, { ...known, begun: attempt === 1, saved: false });
    },
    begun(runId) {
      accounts.get(runId)!.begun = true;
    },
    saved({ runId, source }) {
      if (source === 'loop') Object.assign(accounts.get(runId)!, { deaths: 0, charges: 0, saved: true });
    },
    requeued({ runId, lost, deaths, charges, incarnation }) {
      const account = accounts.get(runId)!;
      const isServer = incarnation !== undefined;
      const died = isServer && account.begun && !account.saved ? 1 : 0;
      if (isServer) assert.equal(lost, account.begun, `X6 run ${runId} lost an attempt that had not begun`);
      assert.equal(deaths - account.deaths, died, `X6 the deaths of run ${runId}`);
      assert.equal(charges - account.charges, !isServer && lost ? 1 : 0, `X6 the charges of run ${runId}`);
      Object.assign(account, { deaths, charges });
    },
  };
}
