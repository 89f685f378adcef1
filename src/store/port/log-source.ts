/** All that a log holds, as of one moment: what an export of a whole log reads, in an order in which another log takes it. */
import type { Recorded } from './events.ts';
import type { KeptReceipt } from './log.ts';
import type { PayloadWrite } from './payloads.ts';
import type { SourcePayload } from './thread-source.ts';

/** Content beside that of threads, as the writes that bring it into another log. */
export type CarriedContent = Extract<
  PayloadWrite,
  {
    kind: 'secret' | 'cron-secret' | 'resume' | 'body' | 'item-value' | 'item-vectors' | 'request';
  }
>;

export type LogRecord =
  | { readonly kind: 'payload'; readonly threadId: string; readonly payload: SourcePayload }
  | { readonly kind: 'event'; readonly event: Recorded }
  | { readonly kind: 'content'; readonly write: CarriedContent }
  | { readonly kind: 'receipt'; readonly receipt: KeptReceipt };

export interface LogSource {
  /** Bytes of the log, for a forecast of how long reading takes. */
  size(): Promise<number>;
  /** Whether there is content that an export has sealed (`kinds.ts`). */
  hasSecrets(): Promise<boolean>;
  /** Events in order of stream and version, a thread's payloads before its events; then everything else. */
  records(): AsyncGenerator<LogRecord>;
  close(): Promise<void>;
}
