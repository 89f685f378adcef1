/** A JSON value as a tree. Only what is open exists, and long lists and texts open in parts. */
import { useState } from 'preact/hooks';
import type { Json } from '../api/types.ts';
import { textOf } from '../model/live.ts';
import { oneLine, plural } from '../model/words.ts';

const FIRST_MEMBERS = 100;
const MAX_TEXT_CHARACTERS = 600;
/** Small values are open from the beginning. */
const MAX_OPEN_CHARACTERS = 400;

interface Props {
  readonly value: Json;
  readonly name?: string | undefined;
  /** Levels that are open from the beginning. */
  readonly open?: number;
  /** Stands behind the name, such as the step that wrote the value. */
  readonly note?: preact.ComponentChildren;
}

export function Tree({ value, name, open = 1, note }: Props) {
  if (typeof value !== 'object' || value === null) return <Leaf value={value} name={name} note={note} />;
  return <Branch value={value} name={name} open={open} note={note} />;
}

function Branch({ value, name, open = 0, note }: Props & { readonly value: object }) {
  const said = messageText(value);
  const [isOpen, setOpen] = useState(said === undefined && (open > 0 || isSmall(value)));
  const [shown, setShown] = useState(FIRST_MEMBERS);
  const members = Object.entries(value) as [string, Json][];
  const isList = Array.isArray(value);
  const kind = isList ? plural(members.length, 'item') : plural(members.length, 'member');
  if (members.length === 0) return <Leaf value={isList ? '[]' : '{}'} name={name} note={note} isPlain />;
  return (
    <div class="tree">
      <div class="node">
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="chevron" aria-hidden="true" />
          {name !== undefined && <span class="key">{name}</span>}
          <span class="kind">{isOpen ? kind : (said ?? oneLine(value))}</span>
        </button>
        {note}
      </div>
      {isOpen && (
        <div class="members">
          {members.slice(0, shown).map(([key, member]) => (
            <Tree key={key} name={isList ? `[${key}]` : key} value={member} open={open - 1} />
          ))}
          {members.length > shown && (
            <button type="button" class="more" onClick={() => setShown(shown + 10 * FIRST_MEMBERS)}>
              {plural(members.length - shown, 'more item')}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** The members of an object without a heading. */
export function Members({ value }: { readonly value: Json }) {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return <Tree value={value} open={2} />;
  return (
    <>
      {Object.entries(value).map(([key, member]) => (
        <Tree key={key} name={key} value={member as Json} open={1} />
      ))}
    </>
  );
}

interface LeafProps {
  readonly value: Json;
  readonly name: string | undefined;
  readonly note?: preact.ComponentChildren;
  readonly isPlain?: boolean;
}

function Leaf({ value, name, note, isPlain = false }: LeafProps) {
  return (
    <div class="node leaf">
      {name !== undefined && <span class="key">{name}</span>}
      <Scalar value={value} isPlain={isPlain} />
      {note}
    </div>
  );
}

function Scalar({ value, isPlain = false }: { readonly value: Json; readonly isPlain?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string' || isPlain)
    return (
      <span class={`value ${isPlain ? 'kind' : value === null ? 'null' : typeof value}`}>
        {String(value)}
      </span>
    );
  const isLong = value.length > MAX_TEXT_CHARACTERS && !isWhole;
  return (
    <span class="value string">
      {isLong ? value.slice(0, MAX_TEXT_CHARACTERS) : value}
      {isLong && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          … {plural(value.length - MAX_TEXT_CHARACTERS, 'character')} more
        </button>
      )}
    </span>
  );
}

/** Role and text of a message, which tell more than its members. */
function messageText(value: object): string | undefined {
  const { type, role = type, content } = value as Readonly<Record<string, unknown>>;
  if (typeof role !== 'string' || (typeof content !== 'string' && !Array.isArray(content))) return undefined;
  const calls = (value as { tool_calls?: readonly { name?: string }[] }).tool_calls ?? [];
  return [role, oneLine(textOf(content as Json)), ...calls.map(({ name }) => `→ ${name ?? 'tool'}`)].join(
    '  ',
  );
}

/** Measures at most what may be open, whatever the size of the value. */
function isSmall(value: object): boolean {
  let left = MAX_OPEN_CHARACTERS;
  const walk = (each: unknown): boolean => {
    left -= typeof each === 'string' ? each.length : 8;
    if (left < 0) return false;
    if (typeof each !== 'object' || each === null) return true;
    for (const key in each) if (!walk((each as Record<string, unknown>)[key])) return false;
    return true;
  };
  return walk(value);
}
