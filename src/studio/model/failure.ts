/** The place where a run failed: the failing fact, and the lines of code from its report. */
import { timeOf, type Fact } from '../api/facts.ts';
import { isFailure } from './telling.ts';
import type { OpenThread } from './thread.ts';

export interface CodeLine {
  readonly line: number;
  readonly text: string;
  readonly isMarked: boolean;
}

/** The failure of the run that is looked at, if it is loaded. */
export function failureAt({ story, version }: OpenThread): Fact | undefined {
  void story.arrivals.value;
  const at = story.at(version.value);
  if (at === undefined) return undefined;
  if (isFailure(at)) return at;
  const end = story.nearest(
    at.version,
    1,
    (fact) => fact.run_id === at.run_id && fact.type === 'RunCompleted',
  );
  return at.run_id !== undefined && end !== undefined && isFailure(end) ? end : undefined;
}

/** Version of the state that the failing node read. */
export const versionBefore = (failure: Fact): number => Math.max(1, failure.version - 1);

/** Time between the start of the failing attempt and its end, in milliseconds. */
export function tookOf({ story }: OpenThread, failure: Fact): number | undefined {
  const started = story.nearest(
    failure.version,
    -1,
    ({ type, run_id: id }) => type === 'RunStarted' && id === failure.run_id,
  );
  return started && timeOf(failure) - timeOf(started);
}

const FRAME = /\n```ts\n([^]*?)\n```/;
const LINE = /^(>| ) +(\d+) \| ?(.*)$/;

/** The code frame that a report quotes. */
export function frameIn(report: string): readonly CodeLine[] {
  const failure = report.slice(Math.max(0, report.indexOf('\n## Failure')));
  return (FRAME.exec(failure)?.[1] ?? '').split('\n').flatMap((row) => {
    const [, mark, line, text] = LINE.exec(row) ?? [];
    return line === undefined ? [] : [{ line: Number(line), text: text!, isMarked: mark === '>' }];
  });
}

export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const STACK_PLACE = /(?:\(|at )(?:file:\/\/)?(\/[^\s():]+|[A-Za-z]:[^\s():]+):(\d+):(\d+)\)?$/gm;

/** The innermost place of a stack outside of packages. */
export function placeIn(stack: string | undefined): SourcePosition | undefined {
  for (const [, file, line, column] of (stack ?? '').matchAll(STACK_PLACE))
    if (!file!.includes('/node_modules/') && !file!.startsWith('node:'))
      return { file: file!, line: Number(line), column: Number(column) };
  return undefined;
}

/** Opens the place in an editor that registers the usual address. */
export const editorHref = ({ file, line, column }: SourcePosition): string =>
  `vscode://file${file}:${line}:${column}`;
