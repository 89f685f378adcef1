/** A status as a dot and a word, so that it does not depend on colours. */

const TONES: Readonly<Record<string, string>> = {
  success: 'good',
  idle: 'quiet',
  error: 'bad',
  timeout: 'bad',
  failed: 'bad',
  different: 'bad',
  equal: 'good',
  delivered: 'good',
  busy: 'busy',
  running: 'busy',
  pending: 'wait',
  owed: 'wait',
  untried: 'wait',
  interrupted: 'ask',
  asks: 'ask',
};

export function Status({ status }: { readonly status: string }) {
  return (
    <span class={`status ${TONES[status] ?? 'quiet'}`}>
      <i aria-hidden="true" />
      {status}
    </span>
  );
}
