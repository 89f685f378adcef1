/**
 * `npm run isolation [-- style ...]`: the full matrix of requests by foreign users, about 70,000 requests. Exits 1
 * when a user can see or change another user's data.
 */
import { runMatrix, STYLES } from '../test/isolation/matrix.ts';
import { styled } from '../test/isolation/served.ts';
import { withServer } from '../test/support/with-server.ts';

const wanted = process.argv.slice(2);
let total = 0;
for (const style of wanted.length > 0 ? wanted : STYLES) {
  const { requests, problems } = await withServer(styled(style), (s) => runMatrix(s));
  total += requests;
  for (const problem of problems) console.error(`${style}: ${problem}`);
  console.log(`${style}: ${requests} requests, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}
console.log(`${total} requests`);
