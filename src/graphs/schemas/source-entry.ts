/** The entry of the thread that reads source files: one question, one answer. */
import { parentPort, workerData } from 'node:worker_threads';
import { readSourceFile } from './source-reader.ts';
import type { SourceQuestion } from './source-report.ts';

parentPort?.postMessage(readSourceFile(workerData as SourceQuestion));
