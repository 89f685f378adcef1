import { createManualClock } from '../../support/manual-clock.ts';
import { logContract } from '../../support/log-contract.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

logContract('the memory log', async (use) => {
  const faults: unknown[] = [];
  const log = createMemoryLog({ now: createManualClock().now, onFault: (error) => faults.push(error) });
  try {
    await use({ log, faults });
  } finally {
    await log.close();
  }
});
