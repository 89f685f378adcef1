/**
 * `node --import tsx test/bench/webhooks.ts [seconds]`: what a run costs without a webhook, with one that is
 * taken, and with receivers that are all dead: half of them refuse, half never answer. The two alternate, on a server each; the time of the processor
 * that a run takes is told beside the rate, because it hardly depends on what else the machine does. Linux only.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createReceiver } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { asServer, withPrograms, type ServerProgram } from '../e2e/programs.ts';

const seconds = Number(process.argv[2] ?? 5);
const LANES = 8;
const ROUNDS = 4;

/** Milliseconds of the processor, all threads. */
function cpuOf({ pid }: ServerProgram): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

interface Cost {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function measure(server: ServerProgram, webhook: () => string | undefined): Promise<Cost> {
  const cpu = cpuOf(server);
  let runs = 0;
  const began = performance.now();
  const lane = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      const body = { assistant_id: 'echo', input: { messages: 'hello' }, webhook: webhook() };
      const { status } = await server.ask('POST', '/runs/wait', body);
      if (status !== 200) throw new Error(`answered ${status}`);
      runs += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return { perSecond: (1000 * runs) / (performance.now() - began), cpuMs: (cpuOf(server) - cpu) / runs };
}

await withPrograms(async (programs) => {
  const deaf = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const server = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const urls = deaf.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  urls.push(...urls.map((_, index) => `http://127.0.0.1:${index + 1}/`));
  const serve = async (name: string) =>
    asServer(programs.launchServer({ args: ['--data', `${programs.dir}/${name}`] }));
  const well = createReceiver((request, response) => void request.resume().on('end', () => response.end()));
  await once(well.listen(0, '127.0.0.1'), 'listening');
  const wellUrl = `http://127.0.0.1:${(well.address() as AddressInfo).port}/`;
  const [plain, taken, hooked] = [await serve('plain'), await serve('taken'), await serve('hooked')];
  let next = 0;
  const dead = (): string => urls[next++ % urls.length]!;
  await measure(plain, () => undefined);
  await measure(taken, () => wellUrl);
  await measure(hooked, dead);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const without = await measure(plain, () => undefined);
    const withDead = await measure(hooked, dead);
    const withWell = await measure(taken, () => wellUrl);
    ratios.push(withWell.cpuMs / withDead.cpuMs);
    const tell = ({ perSecond, cpuMs }: Cost): string =>
      `${perSecond.toFixed(0)} runs/s at ${cpuMs.toFixed(2)} ms each`;
    console.log(`without ${tell(without)}, taken ${tell(withWell)}, dead ${tell(withDead)}`);
  }
  ratios.sort((a, b) => a - b);
  console.log(
    `median ratio of the processor's time, taken to dead, ${((ratios[1]! + ratios[2]!) / 2).toFixed(3)}`,
  );
  for (const server of [...deaf, well]) server.close();
});
process.exit(0);
