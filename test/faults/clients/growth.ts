import type { ServerProgram } from '../../e2e/programs.ts';
import { residentBytes } from '../../support/process-figures.ts';

/** The most memory that the server had while `use` ran, beyond what it had before, once it is warm. */
export async function growthDuring(server: ServerProgram, use: () => Promise<void>): Promise<number> {
  for (let i = 0; i < 20; i++) await server.ask('POST', '/threads', { metadata: { text: 'x'.repeat(1000) } });
  const before = residentBytes(server.pid);
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, residentBytes(server.pid))), 20);
  try {
    await use();
  } finally {
    clearInterval(timer);
  }
  return Math.max(most, residentBytes(server.pid)) - before;
}
