/** The entry of the process that reads a source file: one question, one answer, then it ends. */
import { constants, setPriority } from 'node:os';
import { limitProcessorTime } from '../../kernel/processor-limit.ts';
import { readThrough } from './source-cache.ts';
import { readSourceFile } from './source-reader.ts';
import type { SourceAnswer, SourceTask } from './source-report.ts';

function answer({ question, cache, limitMs }: SourceTask): SourceAnswer {
  limitProcessorTime(limitMs);
  try {
    return { report: readThrough(cache, question, (note) => readSourceFile(question, note)) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

// Requests and runs come first.
setPriority(constants.priority.PRIORITY_LOW);
process.once('message', (task: SourceTask) => process.send?.(answer(task), () => process.exit()));
// The server is gone.
process.once('disconnect', () => process.exit());
