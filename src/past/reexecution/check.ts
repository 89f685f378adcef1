/**
 * The verdicts of `rerun --check`, one line a run. A run that failed when it was recorded is a test of its mend: it fails as
 * long as the run does, unless an expectation says so.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import type { GraphSpec } from '../../graphs/loader.ts';
import { readTextFile } from '../../kernel/text-file.ts';
import type { Json } from '../../kernel/json.ts';
import { userPlaceOf } from '../../kernel/stack.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';
import { counted } from '../tell/text.ts';
import { projectFile } from '../source-files.ts';
import type { Reexecution } from './execute.ts';
import { stepOfTask } from './places.ts';
import { failsAsItDid, newFailure, NO_LONGER_FAILS, verdictLines } from './print.ts';

const REPORTERS = ['text', 'github'] as const;
export type Reporter = (typeof REPORTERS)[number];

/** A run that was executed again. */
export interface Judged {
  readonly run: RunRecord;
  /** Its values at the end, if it was edited. */
  readonly recorded?: Json;
  readonly file: string | undefined;
  readonly result: Reexecution;
  /** It was compared with an expectation, or has a new one. */
  readonly isExpected: boolean;
  readonly isUpdated?: boolean;
}

export interface ReportHost {
  readonly env: NodeJS.ProcessEnv;
  /** Folder that printed paths inside of it are relative to. */
  readonly cwd: string;
  /** Folders of the project's sources. */
  readonly folders: readonly string[];
  /** Graphs of the project by id. */
  readonly graphs: readonly GraphSpec[];
  print(line: string): void;
}

type Checked = 'equal' | 'mended' | 'updated' | 'fails' | 'different' | 'untried';

/** The worst of all is the code of the command. */
const CODES: Readonly<Record<Checked, number>> = {
  ...{ equal: 0, mended: 0, updated: 0, fails: 1, different: 1, untried: 3 },
};

export function checkedOf({ result, isExpected, isUpdated }: Judged): Checked {
  const { verdict, outcome, passesFailure } = result;
  if (isUpdated) return isExpected ? 'updated' : 'equal';
  if (passesFailure === true && !isExpected) return 'mended';
  return verdict === 'equal' && outcome?.kind === 'error' && !isExpected ? 'fails' : verdict;
}

export function codeOf(all: readonly Judged[], isChecked: boolean): number {
  const codes = all.map((each) => CODES[isChecked ? checkedOf(each) : each.result.verdict]);
  return codes.includes(CODES.different) ? CODES.different : Math.max(0, ...codes);
}

export interface Report {
  tell(judged: Judged): void;
  end(): void;
}

export function openReport(reporter: Reporter, host: ReportHost): Report {
  const lines: { readonly checked: Checked; readonly file: string; readonly text: string }[] = [];
  return {
    tell(judged) {
      const checked = checkedOf(judged);
      const file = judged.file === undefined ? '' : shownPath(host.cwd, judged.file);
      const text = textOf(judged, checked);
      lines.push({ checked, file, text });
      host.print(`${checked.padEnd(VERDICT_WIDTH)}${file === '' ? '' : `${file}  `}${text}`);
      if (reporter === 'github' && CODES[checked] !== 0)
        host.print(annotationOf(judged, checked, text, host));
    },
    end() {
      const verdicts = [...new Set(lines.map(({ checked }) => checked))];
      const counts = verdicts.map((of) => `${lines.filter(({ checked }) => checked === of).length} ${of}`);
      const total = `${counted(lines.length, 'run')}: ${counts.join(', ') || 'none'}`;
      if (lines.length !== 1) host.print(total);
      const { GITHUB_STEP_SUMMARY: summary } = host.env;
      if (reporter !== 'github' || summary === undefined) return;
      const rows = lines.map(
        ({ checked, file, text }) => `| ${[checked, file, text].map(cell).join(' | ')} |`,
      );
      const table = ['| Verdict | File | Run |', '| --- | --- | --- |', ...rows];
      appendFileSync(summary, `## Runs of the past\n\n${total}\n\n${table.join('\n')}\n`);
    },
  };
}

/** A path outside of the folder is clearer as it is. */
function shownPath(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

const VERDICT_WIDTH = 11;
const MAX_LINE_CHARACTERS = 600;

function textOf({ result }: Judged, checked: Checked): string {
  const { runId, graphId, outcome } = result;
  const how = (): string => {
    if (checked === 'mended') return `: ${NO_LONGER_FAILS}`;
    if (checked === 'fails' && outcome?.kind === 'error') return `: ${failsAsItDid(outcome)}`;
    if (checked === 'equal' || checked === 'updated') return '';
    const [first] = verdictLines(result);
    const failure = newFailure(result);
    return (
      first!.replace(/^run \S+ of [^:]*: (?:untried: |different: |different at )/, ': ') +
      (failure === undefined ? '' : `; ${failure}`)
    );
  };
  return `run ${runId} of ${graphId}${how()}`.replace(/\s+/g, ' ').slice(0, MAX_LINE_CHARACTERS);
}

/** A line is known where the run fails. */
function annotationOf({ result, file }: Judged, checked: Checked, text: string, host: ReportHost): string {
  const { outcome } = result;
  const place = outcome?.kind === 'error' ? userPlaceOf(outcome.origin?.stack ?? '') : undefined;
  const source = place && projectFile(place.file, host.folders);
  const members = {
    ...(file !== undefined && { file: shownPath(host.cwd, file) }),
    ...nodeIn(result, host),
    ...(source !== undefined && { file: shownPath(host.cwd, source), line: place!.line, col: place!.column }),
    title: `run ${checked}`,
  };
  const pairs = Object.entries(members).map(
    ([name, value]) => `${name}=${escaped(String(value), /[%\r\n:,]/g)}`,
  );
  return `::error ${pairs.join(',')}::${escaped(text, /[%\r\n]/g)}`;
}

/** The graph's file, and the line where it adds the node that differs. */
function nodeIn({ graphId, comparison, request }: Reexecution, { graphs, cwd }: ReportHost) {
  const spec = graphs.find(({ id }) => id === graphId);
  if (spec === undefined || !existsSync(spec.file)) return {};
  const path = request === undefined ? comparison?.divergence?.node : stepOfTask(request.task).node;
  const node = path?.split('|').at(-1);
  const lines = readTextFile(spec.file).split('\n');
  const at = lines.findIndex((line) =>
    [`'${node}'`, `"${node}"`].some((name) => line.includes(`addNode(${name}`)),
  );
  return { file: shownPath(cwd, spec.file), ...(at >= 0 && { line: at + 1 }) };
}

/** Workflow commands take these characters percent-encoded. */
const escaped = (text: string, characters: RegExp): string => text.replace(characters, encodeURIComponent);

/** Text of a cell: Markdown and HTML of others stay text. */
const cell = (text: string): string =>
  text.replace(/[\\`*_{}[\]<>|#!~&]/g, (found) => `&#${found.charCodeAt(0)};`);
