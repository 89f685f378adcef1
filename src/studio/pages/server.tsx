/** The server: its state for the operator, verdicts of saves, webhooks and crons. */
import { Crons, Webhooks } from '../parts/deliveries.tsx';
import { Operation } from '../parts/operation.tsx';
import { VerdictList } from '../parts/verdict.tsx';

export function ServerPage() {
  return (
    <main class="server-page">
      <Operation />
      <VerdictList />
      <Webhooks />
      <Crons />
    </main>
  );
}
