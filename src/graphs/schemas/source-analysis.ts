/**
 * Reads what the source of graphs says about them, in threads: never on the event loop, one file at a time, within a
 * limit of time, and once per file. A reading that failed is told and not kept, so the next question tries again.
 */
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../kernel/clock.ts';
import { createMailbox } from '../../kernel/mailbox.ts';
import { startWorker } from '../../kernel/worker.ts';
import type { FileReport, SourceQuestion, SourceReport } from './source-report.ts';

export interface SourceAnalysis {
  /** Undefined when the source says nothing or could not be read in time; never rejects. */
  read(file: string, exportName: string): Promise<SourceReport | undefined>;
  close(): Promise<void>;
}

export interface SourceAnalysisOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** All exports that may be asked for, by file: they are read together, which costs hardly more than one. */
  readonly exports: readonly { readonly file: string; readonly exportName: string }[];
  /** Milliseconds for one file. */
  readonly limitMs: number;
  /** Hears why a file could not be read. */
  readonly onFault: (error: unknown) => void;
}

export function createSourceAnalysis(options: SourceAnalysisOptions): SourceAnalysis {
  const { clock, exports, limitMs, onFault } = options;
  const reports = new Map<string, Promise<FileReport>>();
  const mailbox = createMailbox();
  let running: Worker | undefined;
  let closed = false;

  function analyse(question: SourceQuestion): Promise<FileReport> {
    if (closed) return Promise.resolve({});
    return new Promise<FileReport>((resolve, reject) => {
      const worker = (running = startWorker('graphs/schemas/source-entry', question));
      worker.unref();
      const cancel = clock.after(limitMs, () => {
        reject(new Error(`reading ${question.file} took longer than ${limitMs} ms`));
        void worker.terminate();
      });
      const settle = (done: () => void): void => {
        cancel();
        running = undefined;
        done();
      };
      worker.once('message', (report: FileReport) => settle(() => resolve(report)));
      worker.once('error', (error) => settle(() => reject(error)));
      worker.once('exit', () =>
        settle(() => (closed ? resolve({}) : reject(new Error(`reading ${question.file} ended early`)))),
      );
    });
  }

  function reportOf(file: string): Promise<FileReport> {
    const known = reports.get(file);
    if (known !== undefined) return known;
    const exportNames = exports.filter((each) => each.file === file).map(({ exportName }) => exportName);
    const report = mailbox.post(() => analyse({ file, exportNames }));
    reports.set(file, report);
    report.catch(() => reports.delete(file));
    return report;
  }

  return {
    async read(file, exportName) {
      try {
        return (await reportOf(file))[exportName];
      } catch (error) {
        onFault(error);
        return undefined;
      }
    },
    async close() {
      closed = true;
      await running?.terminate();
    },
  };
}
