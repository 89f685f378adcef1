/** The data folder and the log in it. Writes nothing. */
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDatabaseUrl } from '../../kernel/database-address.ts';
import { PRODUCT } from '../../kernel/product.ts';
import { findExposure, isWritable } from '../../store/port/disk.ts';
import { storeAt } from '../../open-store.ts';
import { amountText } from '../progress.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

/** With less room a server may soon refuse changes. */
const MIN_FREE_BYTES = 256 * 2 ** 20;

export function examineDisk(dir: string): Finding[] {
  const there = nearest(dir);
  const { bavail, bsize } = statfsSync(there);
  const free = bavail * bsize;
  const text = `${amountText(free, 'bytes')} free for ${dir}`;
  const exposure = existsSync(dir) ? findExposure(dir) : undefined;
  return [
    free < MIN_FREE_BYTES
      ? problem('disk', `only ${text}`, 'free some space, or name a folder on another disk with --data')
      : ok('disk', text),
    ...(isWritable(there)
      ? []
      : [
          problem(
            'disk',
            `${there} cannot be written`,
            'change its owner, or name another folder with --data',
          ),
        ]),
    ...(exposure === undefined ? [] : [warning('disk', exposure, `chmod 700 ${dir}`)]),
  ];
}

export async function examineLog(
  of: string,
  keys: readonly string[],
): Promise<{ findings: Finding[]; owner: number | undefined }> {
  const store = storeAt(of, keys);
  const { address } = store;
  const { exists, owner, hasReserve, problem: broken, keyProblem } = await store.condition();
  if (!exists && broken === undefined)
    return { findings: [ok('log', `none yet in ${address}: the first start makes one`)], owner };
  const found = broken ?? keyProblem;
  const findings = [
    found === undefined
      ? ok('log', `${address}${owner === undefined ? '' : `, in use by process ${owner}`}`)
      : problem(
          'log',
          found,
          isDatabaseUrl(of)
            ? 'see what it says'
            : `see what it says; "${PRODUCT} restore" puts a backup in its place`,
        ),
  ];
  if (owner !== undefined && !hasReserve)
    findings.push(problem('disk', `the reserve of ${address} is gone: the disk was full`, 'free some space'));
  return { findings, owner };
}

/** The folder, or the nearest one above it that exists. */
const nearest = (dir: string): string => (existsSync(dir) ? dir : nearest(dirname(dir)));
