/** The entry of the child process that analyses a source file. It answers one message and exits. */
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

// Low priority leaves the processor to requests and runs.
setPriority(constants.priority.PRIORITY_LOW);
process.once('message', (task: SourceTask) => process.send?.(answer(task), () => process.exit()));
// A closed channel means that the server has ended.
process.once('disconnect', () => process.exit());
