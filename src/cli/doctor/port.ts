/** The address to listen on, and who has it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { portProblem } from '../../http/server.ts';
import { ok, problem, type Finding } from './finding.ts';

/** `owner`: the process that uses the data folder. */
export async function examinePort({ host, port }: Config, owner: number | undefined): Promise<Finding> {
  const found = await portProblem(host, port);
  if (found === undefined) return ok('port', port === 0 ? 'any free one' : `${port} of ${host} is free`);
  const holder = holderOf(port);
  if (holder !== undefined && holder.pid === owner)
    return ok('port', `${port} of ${host} is taken by the server of this folder (process ${holder.pid})`);
  const by = holder === undefined ? '' : ` by process ${holder.pid} (${holder.command})`;
  return problem(
    'port',
    `${port} of ${host} cannot be used${by}`,
    `stop that program, or choose a port with --port`,
  );
}

interface Holder {
  readonly pid: number;
  readonly command: string;
}

const LISTENING = '0A';

/** The process that listens on the port; undefined where the system does not tell. */
function holderOf(port: number): Holder | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeners(table, port)));
  for (const pid of list('/proc')
    .map(Number)
    .filter((each) => each > 0))
    for (const fd of list(`/proc/${pid}/fd`))
      if (
        inodes.has(
          /^socket:\[(\d+)\]$/.exec(attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '')?.[1] ?? '',
        )
      )
        return { pid, command: commandOf(pid) };
  return undefined;
}

/** Inodes of sockets that listen on the port (`man 5 proc_pid_net`). */
function listeners(table: string, port: number): string[] {
  const lines = (attempt(() => readFileSync(table, 'latin1')) ?? '').split('\n').slice(1);
  return lines.flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    const isAsked = Number.parseInt(local?.split(':').at(-1) ?? '', 16) === port;
    return isAsked && state === LISTENING && inode !== undefined ? [inode] : [];
  });
}

const commandOf = (pid: number): string =>
  (attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '')
    .split('\0')
    .join(' ')
    .trim()
    .slice(0, 120);

const list = (dir: string): string[] => attempt(() => readdirSync(dir)) ?? [];

/** Processes end while they are read, and those of other users cannot be. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
