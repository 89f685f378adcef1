/**
 * The kinds of content that facts refer to but do not carry, and what happens to each of them. Adding a kind takes an
 * entry here, its `PayloadWrite` (payloads.ts) and what writes and reads it. Checks of checksums, backups and new keys go
 * through all kinds, and deletions through those that say so.
 */
export interface Kind {
  /** With its owner's last row all rows of the kind go. */
  readonly owner: 'thread' | 'run' | 'cron' | 'delivery' | 'item';
  readonly table: string;
  /** Which rows of the table are of the kind, by column. */
  readonly rows?: Readonly<Record<string, string>>;
  /** What a row is called when it is damaged, with columns in braces. */
  readonly title: string;
  /** What erases it of a run that stays: the age of its frames, or the end of all that it says. */
  readonly erasedWith?: 'frames' | 'content';
  /** A4 Sealed under a label of its own. */
  readonly isSecret?: true;
  /** Which exports have it: those of its thread, those of a whole log, or these alone and sealed. */
  readonly exported: 'thread' | 'log' | 'sealed';
}

const ofThread = { owner: 'thread', table: 'texts', exported: 'thread' } as const;
const ofRun = { owner: 'run', table: 'run_contents', exported: 'thread' } as const;

export const KINDS = {
  checkpoint: {
    ...{ ...ofThread, rows: { kind: 'c' } },
    title: 'thread {thread}: checkpoint {name}',
  },
  value: {
    ...{ ...ofThread, rows: { kind: 'v' } },
    title: 'thread {thread}: value of channel {name}, version {version}',
  },
  writes: {
    ...{ ...ofThread, rows: { kind: 'w' } },
    title: 'thread {thread}: writes on checkpoint {name}, row {id}',
  },
  frames: {
    ...{ owner: 'run', table: 'frames', erasedWith: 'frames', exported: 'thread' },
    title: 'thread {thread}: frames {first} to {last} of run {run}',
  },
  'untracked-values': {
    ...{ ...ofRun, rows: { kind: 'untracked-values' }, erasedWith: 'frames' },
    title: 'thread {thread_id}: untracked values of run {run_id}',
  },
  recording: {
    ...{ ...ofRun, rows: { kind: 'recording' }, erasedWith: 'content' },
    title: 'thread {thread_id}: part {id} of the recording of run {run_id}',
  },
  calls: {
    ...{ ...ofRun, rows: { kind: 'calls' }, erasedWith: 'content' },
    title: 'thread {thread_id}: prints and calls of run {run_id}, row {id}',
  },
  resume: {
    ...{ owner: 'run', table: 'resume_calls', exported: 'sealed' },
    title: 'thread {thread_id}: part {seq} of what run {run_id} was answered',
  },
  secret: {
    ...{ owner: 'run', table: 'secrets', exported: 'sealed' },
    title: 'thread {thread_id}: secret of run {run_id}',
    isSecret: true,
  },
  'cron-secret': {
    ...{ owner: 'cron', table: 'cron_secrets', exported: 'sealed' },
    title: 'cron {cron_id}: secret',
    isSecret: true,
  },
  body: {
    ...{ owner: 'delivery', table: 'bodies', exported: 'log' },
    title: 'thread {thread_id}: body of webhook {delivery_id}',
  },
  'item-value': {
    ...{ owner: 'item', table: 'item_values', exported: 'log' },
    title: 'item {item_id}: value',
  },
  'item-vectors': {
    ...{ owner: 'item', table: 'item_vectors', exported: 'log' },
    title: 'item {item_id}: vector {idx}',
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;

/** Names of the kinds of which this is true. */
export const kindsWith = (isMeant: (kind: Kind) => boolean): KindName[] =>
  (Object.entries(KINDS) as [KindName, Kind][]).flatMap(([name, kind]) => (isMeant(kind) ? [name] : []));
