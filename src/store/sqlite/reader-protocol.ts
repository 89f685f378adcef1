/** What the log and its reader thread say to each other. */
import type { EncryptionKeys } from '../sql/keyring.ts';

export interface ReaderSetup {
  readonly file: string;
  readonly keys?: EncryptionKeys;
  /** Address of a module whose `SCANS` are answered, in place of the store's. */
  readonly scans?: string;
}

export interface Question {
  /** Of a scan. */
  readonly name: string;
  readonly args: readonly unknown[];
  /** Milliseconds that are left. */
  readonly ms: number;
}

export type Answer =
  /** The thread has started and hears questions: said once, before anything else. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'slow' }
  | { readonly kind: 'error'; readonly message: string };
