/**
 * The reader thread: one read-only connection, one question at a time, nothing kept open between two. A statement
 * cannot be interrupted from outside; but questions that take long judge rows in windows, and give up between two of
 * them when their time is over.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../kernel/clock.ts';
import type { Scan } from '../sql/ask.ts';
import { SCANS } from '../sql/views/views.ts';
import { createAsk } from './ask.ts';
import { openConnection } from './connection.ts';
import { openKeyring } from './keyring.ts';
import type { Answer, Question, ReaderSetup } from './reader-protocol.ts';
import { createStatements } from './statements.ts';

class TimeOver extends Error {}

const clock = systemClock();
let deadline = Infinity;

const { file, keys = [], scans } = workerData as ReaderSetup;
const known = scans === undefined ? SCANS : ((await import(scans)) as { SCANS: typeof SCANS }).SCANS;
const questions = new Map(known.map((scan) => [scan.name, scan as Scan<readonly unknown[], unknown>]));
const db = openConnection(file, { readonly: true });
const ask = createAsk(createStatements(db, openKeyring(db, keys).coder), () => {
  if (clock.monotonic() > deadline) throw new TimeOver();
});

async function answer({ name, args }: Question): Promise<Answer> {
  try {
    return { kind: 'answer', answer: await questions.get(name)!.answer(ask, ...args) };
  } catch (error) {
    if (error instanceof TimeOver) return { kind: 'slow' };
    return { kind: 'error', message: error instanceof Error ? error.message : String(error) };
  }
}

parentPort!.on('message', (question: Question) => {
  deadline = clock.monotonic() + question.ms;
  void answer(question).then((found) => parentPort!.postMessage(found));
});
parentPort!.postMessage({ kind: 'ready' } satisfies Answer);
