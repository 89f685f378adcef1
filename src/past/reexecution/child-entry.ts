/** The process that judges one run for a server: reads the log, sends the report and ends. */
import { systemClock } from '../../kernel/clock.ts';
import { storeAt } from '../../open-store.ts';
import { LEAVE, untried, type ChildOrder } from './child.ts';
import { openJudge, withLate } from './judge.ts';
import { toJsonReport } from './print.ts';

process.once('disconnect', () => process.exit());
process.on('message', (message: ChildOrder | typeof LEAVE) => {
  if (message === LEAVE) process.exit();
  void execute(message)
    .catch((error: unknown) => untried(error instanceof Error ? error.message : String(error)))
    .then((report) => process.send!(report, () => process.exit()));
});

async function execute({
  store,
  keys,
  graphs,
  run,
  memoryMb,
  timeoutMs,
  answers,
  ...options
}: ChildOrder): Promise<string> {
  const history = await storeAt(store, keys).openPast();
  const judge = openJudge({
    ...{ graphs, env: {}, memoryMb, timeoutMs, clock: systemClock(), output: 'nowhere', live: false },
  });
  const result = await judge.judge(history, run, {
    ...options,
    answers: new Map(Object.entries(answers).map(([n, body]) => [Number(n), body])),
  });
  return JSON.stringify(toJsonReport(withLate(result, await judge.close())));
}
