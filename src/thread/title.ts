/** A thread's title: the metadata key `title`, else the first human text of a run's input. */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { RunKwargs } from './events.ts';
import type { LivingThread } from './state.ts';

const MAX_TITLE_CHARS = 80;
/** Bounds the work on a long text: whitespace is removed before the title is cut. */
const MAX_READ_CHARS = 1_000;

/** The title that a new run gives its thread; none for a stateless run, or when another run has given one. */
export function newTitle(
  state: LivingThread,
  { kwargs, metadata }: { readonly kwargs: RunKwargs; readonly metadata: JsonObject },
): { title?: string } {
  if (state.title !== undefined || state.temporary) return {};
  const title = titleOf(kwargs.input, { ...state.metadata, ...metadata });
  return title === undefined ? {} : { title };
}

/** The title that stays when these runs are pruned, as their events lose it. */
export const keptTitle = ({ title }: LivingThread, prunedRuns: readonly string[] = []): { title?: string } =>
  title?.runId != null && prunedRuns.includes(title.runId) ? { title: title.text } : {};

/** Undefined when neither has a text. */
export function titleOf(input: Json, metadata: JsonObject): string | undefined {
  const given = metadata['title'];
  return (typeof given === 'string' ? shorten(given) : undefined) ?? firstHumanText(input);
}

function firstHumanText(input: Json): string | undefined {
  const messages = isObject(input) ? input['messages'] : undefined;
  for (const message of Array.isArray(messages) ? messages : [messages ?? null]) {
    const title = shorten(humanText(message));
    if (title !== undefined) return title;
  }
  return undefined;
}

/** The text of a message in one of the forms that graphs take: text, `[role, content]`, an object, a serialized class. */
function humanText(message: Json): string {
  if (typeof message === 'string') return message;
  if (Array.isArray(message)) return isHuman(message[0]) ? textOf(message[1]) : '';
  if (!isObject(message)) return '';
  const { id, kwargs } = message;
  if (Array.isArray(id) && isObject(kwargs))
    return id.at(-1) === 'HumanMessage' ? textOf(kwargs['content']) : '';
  return isHuman(message['type']) || isHuman(message['role']) ? textOf(message['content']) : '';
}

const isHuman = (role: Json | undefined): boolean => role === 'human' || role === 'user';

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  for (const block of content) {
    if (typeof block === 'string') return block;
    if (isObject(block) && typeof block['text'] === 'string') return block['text'];
  }
  return '';
}

function shorten(text: string): string | undefined {
  const line = text
    .slice(0, MAX_READ_CHARS)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return Array.from(line).slice(0, MAX_TITLE_CHARS).join('').trim() || undefined;
}
