/**
 * What each open run has against it, kept beside the log from its facts.
 *
 * X6 The server's death charges no run, and counts for those whose code had begun and that had saved nothing; of servers that
 * share a store at the next death, and only if the server has not come back.
 */
import assert from 'node:assert/strict';
import type { ThreadEventMap } from '../../src/thread/events.ts';

interface Account {
  deaths: number;
  charges: number;
  missing: string | undefined;
  /** The missing server had come back when the attempt began. */
  wasBack: boolean;
  begun: boolean;
  saved: boolean;
}

export interface Accounts {
  started(fact: ThreadEventMap['RunStarted']): void;
  begun(runId: string): void;
  saved(fact: ThreadEventMap['CheckpointSaved']): void;
  requeued(fact: ThreadEventMap['RunRequeued']): void;
}

/** `hasReturned`: of servers that share a store, whether a node that was gone has come back. */
export function createAccounts(hasReturned: ((id: string) => boolean) | undefined): Accounts {
  const accounts = new Map<string, Account>();
  const isBack = (id: string | undefined): boolean => id !== undefined && hasReturned!(id);
  return {
    started({ runId, attempt }) {
      const known = accounts.get(runId) ?? { deaths: 0, charges: 0, missing: undefined };
      const wasBack = isBack(known.missing);
      accounts.set(runId, { ...known, wasBack, begun: attempt === 1, saved: false });
    },
    begun(runId) {
      accounts.get(runId)!.begun = true;
    },
    saved({ runId, source }) {
      const none = { deaths: 0, charges: 0, missing: undefined, saved: true };
      if (source === 'loop') Object.assign(accounts.get(runId)!, none);
    },
    requeued({ runId, lost, deaths, charges, missing, incarnation }) {
      const account = accounts.get(runId)!;
      const isServer = incarnation !== undefined;
      const died = isServer && account.begun && !account.saved;
      const isMissing = died && hasReturned !== undefined;
      const isSettled = account.missing !== undefined && isServer;
      const open = isSettled ? undefined : account.missing;
      assert.equal(missing, isMissing ? incarnation : open, `X6 the missing server of run ${runId}`);
      if (isServer) assert.equal(lost, account.begun, `X6 run ${runId} lost an attempt that had not begun`);
      const counted = deaths - account.deaths - (died && !isMissing ? 1 : 0);
      // A server may come back while its death is being counted.
      const isSure = account.wasBack === isBack(account.missing);
      const most = isSettled && !(isSure && account.wasBack) ? 1 : 0;
      const least = isSure ? most : 0;
      assert.ok(counted >= least && counted <= most, `X6 the deaths of run ${runId}`);
      assert.equal(charges - account.charges, !isServer && lost ? 1 : 0, `X6 the charges of run ${runId}`);
      Object.assign(account, { deaths, charges, missing });
    },
  };
}
