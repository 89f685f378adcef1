/** A model or tool call in a line. */
import type { SeenCall } from '../api/calls.ts';
import { count, duration } from '../model/words.ts';

export function CallLine({ call }: { readonly call: SeenCall }) {
  const { kind, name, node, tookMs, usage, isFailed } = call;
  return (
    <div class="call-line">
      <span class={`tag ${isFailed ? 'bad' : ''}`}>{kind}</span>
      <b>{name}</b>
      {node !== null && <span class="quiet">{node}</span>}
      <span class="numbers">
        {tookMs !== null && duration(tookMs)}
        {usage !== undefined && ` · ${count(usage.input_tokens)} in · ${count(usage.output_tokens)} out`}
      </span>
    </div>
  );
}
