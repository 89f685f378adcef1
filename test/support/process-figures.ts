/** What the system says about a process of this machine. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Resident memory, in bytes. */
export const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;

/** Memory of its own and its share of what it has in common with others, in bytes. */
export const proportionalBytes = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) * 1024;

/** The processes that it has started and that have not ended. */
export const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );

/** Processor time so far, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Read from files and sockets so far, in bytes, whether or not a disk was asked. */
export const bytesRead = (pid: number): number =>
  Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]);

/** Handed to the disk so far, in bytes. */
export const bytesWritten = (pid: number): number =>
  Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]);

/** Open sockets. Files are not counted: threads open theirs at times of their own. */
export const openSockets = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((fd) => isSocket(`/proc/${pid}/fd/${fd}`)).length;

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:');
  } catch (error) {
    // Closed since it was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Why none of this can be known here; undefined when it can. */
export const figuresLacking = (): string | undefined =>
  process.platform === 'linux' ? undefined : `${process.platform} has no /proc`;

export function isAlive(pid: number): boolean {
  try {
    // A process that has ended and was not waited for still has a number.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
