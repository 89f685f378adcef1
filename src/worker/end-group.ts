/**
 * Kills the worker's process group, which includes child processes of graph code. The worker itself ends at once: a
 * regular exit waits for Node's thread pool, which a call of graph code may block for ever.
 */
export function endGroup(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // Windows has no process groups.
    process.kill(process.pid, 'SIGKILL');
  }
}
