/** Commands migrate a database, and look at it, without opening its log. */
import { readAddress, type Address } from '../../kernel/database-address.ts';
import type { Condition } from '../port/condition.ts';
import { openKeyring, type EncryptionKeys } from '../sql/keyring.ts';
import { unusable } from './reasons.ts';
import { findTables, prepareSchema } from './schema.ts';
import { connect, type Session } from './sessions.ts';

/** Throws `Unavailable` in one line. */
export async function atDatabase<T>(address: Address, use: (session: Session) => Promise<T>): Promise<T> {
  let session: Session | undefined;
  try {
    session = await connect(address);
    return await use(session);
  } catch (error) {
    throw unusable(address, error);
  } finally {
    await session?.end();
  }
}

/** Creates the tables that are missing, beside running servers too; `isCheck`: only looks. Returns whether some were missing. */
export const migrate = (url: string, isCheck: boolean): Promise<boolean> => {
  const address = readAddress(url);
  return atDatabase(address, async (session) =>
    isCheck ? !(await session.run(findTables())) : session.run(prepareSchema(undefined, address.schema)),
  );
};

/** Looks at the log from outside, beside a running server too. */
export async function conditionOf(url: string, keys: EncryptionKeys): Promise<Condition> {
  const address = readAddress(url);
  const found = {
    exists: false,
    owner: undefined,
    hasReserve: true,
    problem: undefined,
    keyProblem: undefined,
  };
  try {
    return await atDatabase(address, async (session) => {
      if (!(await session.run(findTables()))) return found;
      const keyProblem = await session.run(openKeyring(address.shown, keys, false)).then(
        () => undefined,
        (error: Error) => error.message,
      );
      return { ...found, exists: true, keyProblem };
    });
  } catch (error) {
    return { ...found, problem: (error as Error).message };
  }
}
