/**
 * The same questions over sockets: a connection to what is alice's and one to what is nobody's, and every command on
 * each of them. A1 No command is in no table. A3 What comes back cannot be told apart.
 */
import * as assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { COMMANDS as SERVED } from '../../src/http/protocol/perform.ts';
import { ALL, openSocket } from '../conformance/thread-stream.ts';
import type { TestServer } from '../support/with-server.ts';
import { blind, seen, tellsOfAlice } from './looks.ts';
import { as, COMMANDS, MISSING_THINGS, type Things } from './requests.ts';

/** The last: what it makes is there for whatever came after it. */
const MAKING = 'run.start';
/** Answered at once, for a foreign thread as for one that is not there. */
const SUBSCRIBE = 'subscription.subscribe';

export interface SocketQuestion {
  readonly actor: string;
  readonly headers: Record<string, string>;
  /** On a thread of one's own, with this of somebody else's. */
  readonly mixed?: 'assistant' | 'checkpoint' | 'run' | 'thread' | undefined;
}

/** Commands of the server that no table here knows, and the other way round. */
export function unknownCommands(): string[] {
  const known = [...Object.keys(COMMANDS(MISSING_THINGS)).filter((name) => name !== 'nothing'), SUBSCRIBE];
  const served = Object.keys(SERVED);
  return [
    ...served.filter((name) => !known.includes(name)).map((name) => `${name} is in no table`),
    ...known.filter((name) => !served.includes(name)).map((name) => `${name} is no command`),
  ];
}

/** What differs between the two, and what of alice's was told. */
export async function askSockets(
  s: TestServer,
  { actor, headers, mixed }: SocketQuestion,
  hers: Things,
  his: Things | undefined,
): Promise<{ answers: number; problems: string[] }> {
  const none = { ...MISSING_THINGS, thread: randomUUID() };
  const own = mixed === undefined || mixed === 'thread' ? undefined : his;
  const [one, other] = await Promise.all(
    [hers, none].map((it) =>
      talk(s, own === undefined || mixed === undefined ? it : { ...own, [mixed]: it[mixed] }, {
        ...{ headers, served: () => served(s, hers) },
      }),
    ),
  );
  const what = `${actor}${mixed === undefined ? '' : `, own but for ${mixed}`}: a socket`;
  const problems: string[] = [];
  const names = new Set([...Object.keys(one!.answers), ...Object.keys(other!.answers)]);
  for (const name of names) {
    const [seenOne, seenOther] = [one!.answers[name] ?? 'silence', other!.answers[name] ?? 'silence'];
    // Whoever starts a run on what is not there makes it; what is somebody else's stays as it is.
    const makes = own === undefined && name === MAKING;
    if (makes ? seenOne.includes('"type":"success"') : seenOne !== seenOther)
      problems.push(`${what}, ${name}: ${seenOne} for a foreign one, ${seenOther} for none`);
  }
  if (tellsOfAlice(one!.bytes + other!.bytes)) problems.push(`${what}: tells what is alice's`);
  if (own === undefined && one!.bytes.includes('"type":"event"'))
    problems.push(`${what}: an event of a foreign thread`);
  return { answers: names.size, problems };
}

interface Talk {
  /** By command; `upgrade` when there was no connection. */
  readonly answers: Readonly<Record<string, string>>;
  /** Everything that came. */
  readonly bytes: string;
}

/** Whoever may see the thread and subscribed later has been served: for anybody else, silence is the answer. */
async function served(s: TestServer, { thread }: Things): Promise<void> {
  const socket = await openSocket(s, thread, as('alice'));
  const { type } = await socket.ask(SUBSCRIBE, { channels: ALL });
  assert.equal(type, 'success');
  await socket.next();
  socket.leave();
}

async function talk(
  s: TestServer,
  things: Things,
  { headers, served }: { headers: Record<string, string>; served: () => Promise<void> },
): Promise<Talk> {
  const url = `${s.url.replace('http', 'ws')}/threads/${things.thread}/stream/events`;
  const opened = await open(url, headers);
  if (typeof opened === 'string') return { answers: { upgrade: opened }, bytes: opened };
  const commands = Object.entries({ [SUBSCRIBE]: { channels: ALL }, ...COMMANDS(things) }).sort(
    ([a], [b]) => Number(a === MAKING) - Number(b === MAKING),
  );
  const answers: Record<string, string> = {};
  let bytes = '';
  const closed = await new Promise<string | undefined>((resolve) => {
    opened.on('message', (data) => {
      const message = String(data);
      bytes += message;
      const { type, id } = JSON.parse(message) as { type: string; id?: number };
      const name = id === undefined ? undefined : commands[id]?.[0];
      if (type === 'event' || name === undefined) return;
      answers[name] = blind(message).replace(/"applied_through_seq":\d+/, '"applied_through_seq":0');
      if (commands.every(([each]) => each in answers)) resolve(undefined);
    });
    // A refusal is a socket that closes at once, with the status of the reply in its code.
    opened.on('close', (code, reason) => resolve(`${code} ${blind(String(reason))}`));
    for (const [id, [method, params]] of commands.entries())
      opened.send(JSON.stringify({ id, method, params }));
  });
  if (closed !== undefined) return { answers: { ...answers, upgrade: closed }, bytes };
  await served();
  opened.terminate();
  return { answers, bytes };
}

/** The socket, or what was said instead. */
function open(url: string, headers: Record<string, string>): Promise<WebSocket | string> {
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket));
    socket.on('error', reject);
    socket.on('unexpected-response', (request, response) => {
      const { statusCode = 0, rawHeaders } = response;
      const told = new Headers();
      for (let i = 0; i + 1 < rawHeaders.length; i += 2) told.append(rawHeaders[i]!, rawHeaders[i + 1]!);
      textOf(response)
        .then((text) => resolve(seen({ status: statusCode, headers: told, text })), reject)
        .finally(() => request.destroy());
    });
  });
}
