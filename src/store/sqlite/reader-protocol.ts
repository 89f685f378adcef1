/** What the log and its reader thread say to each other. */
import type { EncryptionKeys } from './keyring.ts';
import type { Params, Row } from '../port/rows.ts';

export interface ReaderSetup {
  readonly file: string;
  /** Address of the module whose `sqlFunctions` the queries call. */
  readonly functionsModule: string;
  readonly keys?: EncryptionKeys;
}

export interface Question {
  readonly sql: string;
  readonly params: Params;
  /** Milliseconds that are left. */
  readonly ms: number;
}

export type Answer =
  /** The thread has started and hears questions: said once, before anything else. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'rows'; readonly rows: Row[] }
  | { readonly kind: 'slow' }
  | { readonly kind: 'error'; readonly message: string };
