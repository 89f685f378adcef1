/** The entry of the child process that analyses a source file. It answers one message and exits. */
import { constants, setPriority } from 'node:os';
import { limitProcessorTime } from '../../kernel/processor-limit.ts';
import { readThrough } from './source-cache.ts';
import { readSourceFile } from './source-reader.ts';
import type { SourceReply, SourceTask } from './source-report.ts';

function reply({ query, cache, limitMs }: SourceTask): SourceReply {
  limitProcessorTime(limitMs);
  try {
    return { report: readThrough(cache, query, (note) => readSourceFile(query, note)) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

// Low priority leaves the processor to requests and runs.
setPriority(constants.priority.PRIORITY_LOW);
process.once('message', (task: SourceTask) => process.send?.(reply(task), () => process.exit()));
// A closed channel means that the server has ended.
process.once('disconnect', () => process.exit());
