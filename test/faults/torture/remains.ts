/** L3 What is gone is gone from the files of the running server too, soon after it was asked for. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LONGEST_MS = 10_000;

/** One line for every text that is still in a file of the directory after a while. */
export async function findErased(data: string, erased: ReadonlySet<string>): Promise<string[]> {
  const until = performance.now() + LONGEST_MS;
  for (;;) {
    const left = find(data, erased);
    if (left.length === 0 || performance.now() > until) return left;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function find(data: string, erased: ReadonlySet<string>): string[] {
  return readdirSync(data).flatMap((name) => {
    const text = readFileSync(join(data, name), 'latin1');
    return [...erased].filter((each) => text.includes(each)).map((each) => `${each} is gone and in ${name}`);
  });
}
