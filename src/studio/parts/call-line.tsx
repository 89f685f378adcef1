/** A model or tool call in a line. */
import type { Call } from '../api/calls.ts';
import { count, duration } from '../model/words.ts';

export function CallLine({ call }: { readonly call: Call }) {
  const { kind, name, model, node, step, duration_ms: took, usage, error, served } = call;
  return (
    <div class="call-line">
      <span class={`tag ${error === null ? '' : 'bad'}`}>{kind}</span>
      <b>{model ?? name}</b>
      {node !== null && (
        <span class="quiet">
          {node}
          {step !== null && ` · step ${step}`}
        </span>
      )}
      {error !== null && <span class="problem clip">{error}</span>}
      <span class="numbers">
        {served ? 'served from the log' : duration(took)}
        {usage !== null && ` · ${count(usage.input_tokens)} in · ${count(usage.output_tokens)} out`}
      </span>
    </div>
  );
}
