/** Addresses of databases: what is wrong with one is said without its password. */
import assert from 'node:assert/strict';
import { databaseUrlProblem, readAddress } from '../../../src/kernel/database-address.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel, addresses of databases');

const WRONG: readonly (readonly [string, RegExp])[] = [
  ['mysql://u:secret@h/d', /found no address/],
  ['', /found no address/],
  ['postgres://u:secret@h', /no name of a database/],
  ['postgres://u:secret@h:99999/d', /host or port/],
  ['postgres://u:secret@h:0/d', /host or port/],
  ['postgres://u:secret/d', /host or port/],
  ['postgres://u:se/cret@h/d', /must be encoded, such as %2F/],
  ['postgres://u:se?secret@h/d', /must be encoded/],
  ['postgres://u:secret#@h/d', /must be encoded/],
  ['postgres://u@h/d?schema=A-b', /schema "A-b"/],
  ['postgres://u@h/d?pool=2', /pool of 2, which is no number from 3 to 200/],
  ['postgres://u@h/d?pool=x', /pool of x/],
  ['postgres://u@h/d?sslmod=verify-full', /the parameter "sslmod", which is none of schema,.* sslmode,/],
  ['postgres://u@h/d?password=secret', /the parameter "password"/],
  ['postgres://u@h/d?sslmode=allow', /sslmode="allow"/],
  ['postgres://u@h/d?target_session_attrs=standby', /target_session_attrs="standby"/],
];

test('an address that cannot be one is refused in one line without its password', () => {
  for (const [given, says] of WRONG) {
    const problem = databaseUrlProblem(given) ?? '';
    assert.match(problem, says);
    assert.match(problem, /expected postgres:\/\/USER:PASSWORD@HOST:PORT\/DATABASE$/);
    assert.ok(!/secret|cret@|\n/.test(problem), problem);
  }
});

test('an address has a URL for each host, and is shown without its password', () => {
  const { urls, schema, pool, shown } = readAddress(
    'postgres://u:p@ss@a:5433,b/d?schema=s&pool=4&connect_timeout=3&sslmode=disable',
  );
  assert.deepEqual(urls, [
    'postgres://u:p@ss@a:5433/d?connect_timeout=3&sslmode=disable',
    'postgres://u:p@ss@b/d?connect_timeout=3&sslmode=disable',
  ]);
  assert.deepEqual([schema, pool, shown], ['s', 4, 'postgres://u@a:5433,b/d']);
});

test('an address that asks for TLS in any form gets certificates checked', () => {
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    assert.match(readAddress(`postgres://u@h/d?sslmode=${mode}`).urls[0]!, /sslmode=verify-full$/);
  assert.match(readAddress('postgres://u@h/d?sslmode=disable').urls[0]!, /sslmode=disable$/);
});

test.run();
