/** L3 What is gone is gone from every row of every table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../../src/store/sqlite/library.ts';

/**
 * One line for every text that is still there. Looks at a copy of what is live: pages that SQLite has rearranged may
 * keep torn remains of rows in their gaps, which its `secure_delete` does not reach.
 */
export function findErased(data: string, erased: ReadonlySet<string>): string[] {
  const copy = join(data, '..', 'live.db');
  const db = new Database(join(data, 'log.db'), { readonly: true });
  try {
    db.prepare('VACUUM INTO ?').run(copy);
  } finally {
    db.close();
  }
  const text = readFileSync(copy, 'latin1');
  return [...erased].filter((each) => text.includes(each)).map((each) => `${each} is gone and still there`);
}
