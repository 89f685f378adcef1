import type { Connection } from './connection.ts';

/** By table the columns that name a row: what is declared unique, else the primary key. */
export function identitiesOf(db: Connection, tables: readonly string[]): Map<string, string[]> {
  const columns = db.prepare(
    `SELECT info.name FROM pragma_index_list(@table) AS list, pragma_index_info(list.name) AS info
     WHERE list.origin = @origin AND list.partial = 0 ORDER BY list.seq, info.seqno`,
  );
  return new Map(
    tables.map((table) => {
      const named = (origin: string) => columns.pluck().all({ table, origin }) as string[];
      const unique = named('u');
      return [table, unique.length > 0 ? unique : named('pk')];
    }),
  );
}
