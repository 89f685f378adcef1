/** Prints replay's output for people: columns fit the terminal, ids are cut to a unique prefix. */
import { isObject, type Json } from '../../kernel/json.ts';
import type { PastState } from '../travel/state.ts';
import { interruptValuesOf, nextNodes, stepText } from './summary.ts';
import { clip, counted, durationText, nodesText, shortId, shortIds, valueText, wrap } from './text.ts';
import { errorText, type ThreadList } from './threads.ts';
import { detailsOf, placeOf, type Entry } from './timeline.ts';
import { quotePlace } from '../source-files.ts';

export interface Form {
  /** Prints ids in full. */
  readonly ids: boolean;
  /** Width of the terminal; undefined for a file, whose lines are not cut. */
  readonly columns: number | undefined;
  /** Folders of the project's sources, whose lines are shown. */
  readonly folders: readonly string[];
  print(line: string): void;
}

/** Minimum width; in narrower terminals lines wrap. */
const MIN_COLUMNS = 60;
const GAP = '  ';

const widthOf = ({ columns }: Pick<Form, 'columns'>): number =>
  columns === undefined ? Infinity : Math.max(MIN_COLUMNS, columns);
const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));
const timeOf = (timestamp: string): string => timestamp.slice(11, 23);
const dateOf = (timestamp: string): string => timestamp.slice(0, 10);

/** Shortens ids to `0123…`, unless two of the listed threads share the prefix. */
function namesOf(ids: readonly string[], whole: boolean): (id: string) => string {
  const isUnique = new Set(ids.map(shortId)).size === ids.length;
  return whole || !isUnique ? (id) => id : shortId;
}

export function printThreads({ threads, leftOut }: ThreadList, form: Form): void {
  const nameOf = namesOf(
    threads.map(({ thread_id }) => thread_id),
    form.ids,
  );
  const rows = threads.map(({ thread_id, graph_id, status, updated_at, runs, first, error }) => ({
    cells: [
      nameOf(thread_id),
      graph_id ?? '',
      status,
      updated_at.slice(0, 16).replace('T', ' '),
      String(runs),
    ],
    first: first ?? '',
    error,
  }));
  const head = ['Thread', 'Graph', 'Status', 'Changed (UTC)', 'Runs'];
  const widths = head.map((title, at) => widest([title, ...rows.map(({ cells }) => cells[at]!)]));
  const line = (cells: readonly string[], last: string): string =>
    [...cells.map((cell, at) => cell.padEnd(widths[at]!)), last].join(GAP).trimEnd();
  const indent = widths[0]! + GAP.length;
  const room = widthOf(form) - line(head, '').length - widths.at(-1)! - GAP.length;
  if (rows.length > 0) form.print(line(head, 'First message'));
  for (const { cells, first, error } of rows) {
    form.print(line(cells, clip(first, Math.max(room, 8))));
    if (error !== null)
      for (const text of wrap(`${' '.repeat(indent)}${clip(error, 300)}`, widthOf(form), indent))
        form.print(text);
  }
  const others = leftOut === 0 ? '' : `; ${leftOut} of stateless runs and crons not shown (--all)`;
  form.print(`${counted(threads.length, 'thread')}${others}`);
}

/** Events that are indented below their run. */
const WITHIN_RUN: ReadonlySet<string> = new Set(['RunStarted', 'RunBegun', 'RunRequeued', 'CheckpointSaved']);
/** Widths of a checkpoint's columns: nodes and duration. */
const NODES_WIDTH = 20;
const TOOK_WIDTH = 8;

export function printTimeline(entries: readonly Entry[], title: string, form: Form): void {
  const shown = form.ids ? (text: string) => text : shortIds;
  const width = Math.max(4, String(entries.at(-1)?.position).length);
  let date = dateOf(entries[0]!.time);
  form.print(`${title}, ${date} (UTC)`);
  for (const entry of entries) {
    const today = dateOf(entry.time);
    if (entry.type === 'RunCreated' || today !== date) form.print('');
    if (today !== date) form.print((date = today));
    const prefix = `${String(entry.position).padStart(width)}${GAP}${timeOf(entry.time)}${GAP}`;
    const isWithin = WITHIN_RUN.has(entry.type);
    const text = `${isWithin ? GAP : ''}${entry.step === undefined ? shown(entry.summary) : stepLine(entry)}`;
    const indent = prefix.length + GAP.length;
    for (const line of wrap(prefix + text, widthOf(form), indent)) form.print(line);
    for (const detail of detailsOf(entry))
      for (const line of wrap(' '.repeat(indent) + detail, widthOf(form), indent)) form.print(line);
    const place = placeOf(entry);
    if (place !== undefined)
      for (const line of quotePlace(place, form.folders).frame) form.print(' '.repeat(indent) + line);
  }
}

function stepLine({ step, tookMs, data }: Entry): string {
  const number = isObject(data) ? Number(data['step']) : 0;
  const nodes = stepText(number, step);
  const took = step!.source === 'loop' && tookMs !== undefined ? durationText(tookMs) : '';
  const next = nextNodes(step!.next);
  const columns = `${nodes.padEnd(NODES_WIDTH)}${GAP}${took.padStart(TOOK_WIDTH)}`;
  return next.length === 0 ? columns.trimEnd() : `${columns}${GAP}next: ${nodesText(next)}`;
}

const LABEL_WIDTH = 9;

export function printState(state: PastState, form: Form): void {
  const { thread_id, position, time, graph_id, status, runs, next, interrupts, error, values } = state;
  const shown = form.ids ? (text: string) => text : shortIds;
  const field = (label: string, text: string): void => {
    for (const line of wrap(`${label.padEnd(LABEL_WIDTH)}${text}`, widthOf(form), LABEL_WIDTH))
      form.print(line);
  };
  form.print(`Thread ${thread_id} at position ${position}, ${dateOf(time)} ${timeOf(time)} (UTC)`);
  if (graph_id !== null) field('Graph', graph_id);
  field('Status', status);
  const asked = interruptValuesOf(interrupts);
  for (const value of asked) field('Asks', valueText(value));
  if (error !== null) field('Error', errorText(error));
  if (next.length > 0) field('Next', nodesText(next));
  runs.toReversed().forEach(({ run_id, status: of, attempt }, index) => {
    field(`Run ${index + 1}`, `${of}, attempt ${attempt}, ${shown(run_id)}`);
  });
  const { graph_id: _, assistant_id: __, ...metadata } = state.metadata;
  if (Object.keys(metadata).length > 0) field('Metadata', valueText(metadata));
  printValues(values, form);
}

export function printValues(values: Json, form: Pick<Form, 'columns' | 'print'>): void {
  if (!isObject(values)) return form.print('Values   none yet');
  form.print('Values');
  for (const [key, value] of Object.entries(values)) printValue(key, value, form);
}

/** Prints messages one per line, other values as JSON. */
function printValue(key: string, value: Json, form: Pick<Form, 'columns' | 'print'>): void {
  const line = (text: string, indent: number): void =>
    form.print(`${' '.repeat(indent)}${clip(text, Math.min(widthOf(form), 1_000) - indent)}`);
  const isConversation =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => isObject(each) && 'content' in each && 'type' in each);
  if (!isConversation) return line(`${key}: ${JSON.stringify(value)}`, 2);
  line(`${key} (${value.length})`, 2);
  for (const message of value) if (isObject(message)) line(messageText(message), 4);
}

function messageText({ type, name, content, tool_calls }: { readonly [key: string]: Json }): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const calls = (Array.isArray(tool_calls) ? tool_calls : []).map((call) =>
    isObject(call) ? `${String(call['name'])}(${JSON.stringify(call['args'])})` : '',
  );
  const speaker = type === 'tool' && typeof name === 'string' ? `tool ${name}` : String(type);
  return [
    `${speaker}:`,
    ...(text === '' ? [] : [text]),
    ...(calls.length === 0 ? [] : [`calls ${calls.join(', ')}`]),
  ].join(' ');
}
