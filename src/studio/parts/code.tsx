/** Source text with colours, and JSON as text. */
import { SugarHigh } from 'sugar-high/core';
import { tokenize } from 'sugar-high/lang/typescript';
import type { CodeLine } from '../model/failure.ts';

interface CodeProps {
  readonly text: string;
  /** Column from 1 of the word that is marked. */
  readonly column?: number | undefined;
}

function Code({ text, column = 0 }: CodeProps) {
  let end = 0;
  return (
    <>
      {tokenize(text, {}).map(([kind, part], at) => {
        const start = end;
        end += part.length;
        const isHere = column > start && column <= end;
        return (
          <span key={at} class={`sh-${SugarHigh.TokenTypes[kind] ?? 'plain'} ${isHere ? 'here' : ''}`}>
            {part}
          </span>
        );
      })}
    </>
  );
}

const MAX_CODE_CHARACTERS = 20_000;

/** Long texts are not coloured: that would cost more than it tells. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <pre class="code" tabIndex={0} aria-label={label ?? 'Code'}>
      {text.length > MAX_CODE_CHARACTERS ? text : <Code text={text} />}
    </pre>
  );
}

interface FrameProps {
  readonly lines: readonly CodeLine[];
  readonly column: number | undefined;
}

export function CodeFrame({ lines, column }: FrameProps) {
  return (
    <pre class="code frame" tabIndex={0} aria-label="Code around the failure">
      {lines.map(({ line, text, isMarked }) => (
        <div key={line} class={isMarked ? 'marked' : ''}>
          <span class="line">{`${isMarked ? '>' : ' '} ${line}`.padStart(6)}</span>
          <span class="source">
            <Code text={text} column={isMarked ? column : undefined} />
          </span>
        </div>
      ))}
    </pre>
  );
}
