/** The thread that helps to make rows anew. It reads what is committed, on a connection of its own, and writes nothing. */
import { workerData } from 'node:worker_threads';
import type { Projection } from '../rows.ts';
import { openConnection } from './connection.ts';
import { identitiesOf } from './identities.ts';
import type { HelperSetup } from './rebuild-helper.ts';
import { createWindowMaker, helpWithWindows } from './rebuild-windows.ts';
import { createStatements } from './statements.ts';

const { file, projectionModule, version, count, counters, port } = workerData as HelperSetup;
const { projection } = (await import(projectionModule)) as { projection: Projection };

/** Those of tables that nobody else is about to replace. */
function readIdentities(): Map<string, string[]> {
  const memory = openConnection(':memory:');
  try {
    memory.exec(projection.ddl);
    return identitiesOf(memory, projection.tables);
  } finally {
    memory.close();
  }
}

if (projection.version === version) {
  const db = openConnection(file, { readonly: true });
  try {
    const make = createWindowMaker(createStatements(db), projection, readIdentities());
    helpWithWindows(counters, port, count, make);
  } finally {
    db.close();
  }
}
