/**
 * `npm run bench -- [names] [--seconds N] [--json FILE] [--log DIR]`: this server as a process, the graph engine alone,
 * the JavaScript dev server and bare HTTP servers, one after the other on one machine, because only ratios of one run
 * mean something. Whoever asks is a process of its own on the same cores. Durability is full: nothing is told before
 * it is on the disk.
 *
 * Names: peer wait32 wait1 stream32 flow32 plain32 threads reject bounds turns streams idle start signal steps memory rebuild
 * past sizing; and large, which is only measured when it is named: it fills `--log` (or a temporary directory) with ten
 * million events first.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureLoad } from './load-figures.ts';
import { measureRest } from './rest-figures.ts';
import { measureSizing } from './sizing.ts';
import { HEAD, isMet, toLine, type Row } from './table.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '8' },
    json: { type: 'string', default: join(tmpdir(), 'rewound-bench.json') },
    log: { type: 'string' },
  },
});

const say = (line: string): void => console.log(line);
const wants = (name: string): boolean =>
  positionals.length === 0 ? name !== 'large' : positionals.includes(name);

const rows: Row[] = [];
const report = (row: Row): void => {
  rows.push(row);
  say(toLine(row));
};

const conditions = {
  at: new Date().toISOString(),
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model ?? 'unknown',
  loadBefore: loadavg()[0],
  seconds: Number(values.seconds),
};
say(
  `Node ${conditions.node}, ${conditions.cores} × ${conditions.cpu}, load ${conditions.loadBefore?.toFixed(1)}`,
);

await measureLoad(wants, conditions.seconds, report, say);
await measureRest(wants, report, say, values.log);
if (wants('sizing')) await measureSizing(conditions.seconds, report);

say(`\n${HEAD}\n${rows.map(toLine).join('\n')}`);
const result = { conditions, rows: rows.map((row) => ({ ...row, met: isMet(row) })) };
writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
say(`\nwritten to ${values.json}`);
