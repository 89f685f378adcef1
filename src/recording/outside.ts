/**
 * Sockets and child processes that graph code opens itself are not recorded: a recording names them, and re-execution
 * refuses them.
 */
import childProcess from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { currentSession, isInTransport } from './session.ts';

let isNaming = false;

/** Names the sockets and child processes of recorded runs. */
export function nameOutside(): void {
  if (isNaming) return;
  isNaming = true;
  const note = (what: string): void => {
    const session = currentSession();
    if (session?.mode === 'record' && !isInTransport()) session.unrecorded(what);
  };
  subscribe('net.client.socket', () => note('a socket'));
  subscribe('child_process', () => note('a child process'));
}

/** Closes network and child processes for re-executed runs. For the process of a re-execution only. */
let isClosed = false;

export function closeOutside(): void {
  if (isClosed) return;
  isClosed = true;
  const check = (what: string): void => {
    const session = currentSession();
    if (session?.mode === 'replay' && !isInTransport()) session.closed(what);
  };
  const socket = net.Socket.prototype as unknown as Record<'connect', (...args: unknown[]) => unknown>;
  const { connect } = socket;
  socket.connect = function (...args) {
    check('a socket');
    return connect.apply(this, args);
  };
  const functions = childProcess as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of ['spawn', 'fork', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync']) {
    const original = functions[name]!;
    functions[name] = (...args) => {
      check(`a child process (${name})`);
      return original(...args);
    };
  }
  syncBuiltinESMExports();
}
