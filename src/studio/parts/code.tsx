/** Source text with colours, and JSON as text. */
import { SugarHigh } from 'sugar-high/core';
import { tokenize } from 'sugar-high/lang/typescript';
import type { CodeLine } from '../model/failure.ts';

export function Code({ text }: { readonly text: string }) {
  return (
    <>
      {tokenize(text, {}).map(([kind, part], at) => (
        <span key={at} class={`sh-${SugarHigh.TokenTypes[kind] ?? 'plain'}`}>
          {part}
        </span>
      ))}
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

export function CodeFrame({ lines }: { readonly lines: readonly CodeLine[] }) {
  return (
    <pre class="code frame" tabIndex={0} aria-label="Code around the failure">
      {lines.map(({ line, text, isMarked }) => (
        <div key={line} class={isMarked ? 'marked' : ''}>
          <span class="line">{`${isMarked ? '>' : ' '} ${line}`.padStart(7)}</span>
          <Code text={text} />
          {'\n'}
        </div>
      ))}
    </pre>
  );
}
