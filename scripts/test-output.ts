/** Parses the output of a process that ran test files. */
import type { ChildResult } from './run-child.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** Reasons of skipped tests, one per line. */
  readonly skipped: readonly string[];
}

export interface FileResult {
  readonly file: string;
  readonly counts: Counts;
  readonly output: string;
  readonly ms: number;
  /** Processor time of the file and of the processes that it started and awaited; undefined where it is unknown. */
  readonly cpuMs?: number | undefined;
  readonly timedOut: boolean;
}

export interface FailedTest {
  readonly file: string;
  /** Suite and title. */
  readonly name: string;
}

export const beginOf = (file: string): string => `\n:: begin ${file}`;
export const endOf = (ms: number, cpuMs: number): string => `\n:: end ${Math.round(ms)} ${Math.round(cpuMs)}`;

/** Printed by a suite as soon as the test has failed. */
export const failedOf = (name: string): string => `\n:: failed ${name.replaceAll('\n', ' ')}`;

/** Returns the tests that have failed so far, in their order. */
export function failedTests(output: string): FailedTest[] {
  let file = '';
  return [...output.matchAll(/^:: (begin|failed) (.+)\n/gm)].flatMap(([, mark, name]) => {
    if (mark === 'failed') return [{ file, name: name! }];
    file = name!;
    return [];
  });
}

/** Returns the files that have been followed by another: nothing changes their results any more. */
export const finalResults = (output: string): FileResult[] =>
  resultsOf({ code: 0, timedOut: false, output, ms: 0 }).slice(0, -1);

/**
 * Returns results of the started files. A bad exit of the process counts for the last file, unless another file has
 * failed tests. Later files are missing from the list.
 */
export function resultsOf(result: ChildResult): FileResult[] {
  const parts = result.output.split(/^:: begin (.+)\n/m).slice(1);
  const results: FileResult[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const [file, text] = [parts[i]!, parts[i + 1]!];
    const end = /^:: end (\d+) (\d+)\n/m.exec(text);
    const output = text.replace(/\n?^:: (?:end \d+ \d+|failed .+)\n/gm, '');
    results.push({
      file,
      counts: countTests(output, end !== null),
      output,
      ms: Number(end?.[1] ?? result.ms),
      cpuMs: end === null ? undefined : Number(end[2]),
      timedOut: false,
    });
  }
  const last = results.pop();
  if (last === undefined) return [];
  const accused = result.timedOut || (result.code !== 0 && !results.some(({ counts }) => counts.failed > 0));
  const failed = accused ? Math.max(1, last.counts.failed) : last.counts.failed;
  return [...results, { ...last, counts: { ...last.counts, failed }, timedOut: result.timedOut }];
}

/** Counts tests from uvu's totals, with at least one failure when the totals are incomplete. */
function countTests(output: string, ended: boolean): Counts {
  const read = (label: string): number =>
    Number([...output.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)$`, 'gm'))].at(-1)?.[1] ?? 0);
  const total = read('Total');
  const passed = read('Passed');
  const skipped = output.match(/^skipped ".*": .+$/gm) ?? [];
  const failed = total - passed + Math.max(0, read('Skipped') - skipped.length);
  const broken = !ended || total + skipped.length === 0;
  return { passed, failed: Math.max(failed, broken ? 1 : 0), skipped };
}
