/**
 * Analyses graph sources, once per file, in child processes that run one at a time. X4 The compiler blocks for seconds
 * and takes up to 1 GB, so it runs in neither the server nor a graph worker. Only processor time is limited, so a busy
 * machine delays a query without failing it. A failed analysis is reported and repeated by the next query.
 */
import type { ChildProcess } from 'node:child_process';
import { startProcess } from '../../kernel/child-process.ts';
import { createMailbox } from '../../kernel/mailbox.ts';
import type {
  FileReport,
  SourceReply,
  SourceCache,
  SourceQuery,
  SourceReport,
  SourceTask,
} from './source-report.ts';

export interface SourceAnalysis {
  /** Undefined if the source has no schema or could not be analysed; never rejects. */
  read(file: string, exportName: string): Promise<SourceReport | undefined>;
  close(): Promise<void>;
}

export interface SourceAnalysisOptions {
  /** All exports that may be queried. The exports of one file are analysed together, at the cost of one. */
  readonly exports: readonly { readonly file: string; readonly exportName: string }[];
  /** Milliseconds of processor time for one file. */
  readonly limitMs: number;
  readonly cache: SourceCache;
  /** Called with the error when a file could not be analysed. */
  readonly onFault: (error: unknown) => void;
}

export function createSourceAnalysis(options: SourceAnalysisOptions): SourceAnalysis {
  const { exports, limitMs, cache, onFault } = options;
  const reports = new Map<string, Promise<FileReport>>();
  const mailbox = createMailbox();
  let running: ChildProcess | undefined;
  let closed = false;

  function analyse(query: SourceQuery): Promise<FileReport> {
    if (closed) return Promise.resolve({});
    return new Promise<FileReport>((resolve, reject) => {
      const child = (running = startProcess('graphs/schemas/source-entry'));
      const { file } = query;
      child.once('message', (reply: SourceReply) =>
        'report' in reply ? resolve(reply.report) : reject(new Error(`reading ${file}: ${reply.problem}`)),
      );
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        running = undefined;
        if (closed) return resolve({});
        const isLimit = signal === 'SIGKILL';
        const reason = isLimit ? `took more than ${limitMs} ms of processor time` : `ended early (${code})`;
        reject(new Error(`reading ${file} ${reason}`));
      });
      const task: SourceTask = { query, cache, limitMs };
      child.send(task, (error) => error !== null && reject(error));
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
      const child = running;
      if (child === undefined) return;
      await new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGKILL');
      });
    },
  };
}
