/** Runs that every save of their graph is tried against, beside its last one: a file in the data directory. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRef } from '../thread/events.ts';

export interface Pin extends RunRef {
  readonly graphId: string;
}

const fileIn = (dataDir: string): string => join(dataDir, 'pins.json');

/** Throws for a file that holds something else. */
export function readPins(dataDir: string): readonly Pin[] {
  let text: string;
  try {
    text = readFileSync(fileIn(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const pins = JSON.parse(text) as unknown;
  const isPin = (each: Partial<Pin> | null): boolean =>
    typeof each?.runId === 'string' && typeof each.threadId === 'string' && typeof each.graphId === 'string';
  if (!Array.isArray(pins) || !pins.every(isPin))
    throw new Error(
      `${fileIn(dataDir)}: expected a list of pinned runs, found something else; remove the file`,
    );
  return pins as Pin[];
}

export function writePins(dataDir: string, pins: readonly Pin[]): void {
  writeFileSync(fileIn(dataDir), `${JSON.stringify(pins, null, 2)}\n`, { mode: 0o600 });
}
