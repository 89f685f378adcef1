/**
 * A4 Keeps a run's secrets out of its errors, whose messages name addresses, headers and arguments: its end, the errors of
 * its tasks and the frames that show these have stand-ins, as its recording has.
 */
import type { GraphHost, RunLink, RunOrder } from '../graphs/port.ts';
import { ERROR } from '../graphs/state-port.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { knownSecrets } from '../recording/known-secrets.ts';
import { openMasks, type Masks } from '../recording/masks.ts';
import type { CallRecord } from '../thread/call-record.ts';
import type { Origin, Warning } from '../thread/origin.ts';

/** Lines of a stack that are no frames: the places of those have to be found. */
const MESSAGES = /^(?! +at ).+(?:\n(?! +at ).+)*/gm;

type End = Awaited<ReturnType<GraphHost['run']>>;

export interface FailureMask {
  readonly link: RunLink;
  end(end: End): End;
}

/** Modes whose frames show errors of tasks. */
const WITH_ERRORS = /^(?:tasks|debug|checkpoints)(?:\||$)/;
/** Members that graph code has written. */
const OF_GRAPH: ReadonlySet<string> = new Set(['values', 'input', 'result', 'metadata']);

export function maskFailures(order: RunOrder, link: RunLink, env = process.env): FailureMask {
  let opened: Masks | undefined;
  const text = (given: string): string =>
    (opened ??= openMasks(knownSecrets({ ...order, ...order.config, env }).pairs)).text(given);

  const withMaskedStack = <T extends Origin>(origin: T): T =>
    origin.stack === undefined ? origin : { ...origin, stack: origin.stack.replace(MESSAGES, text) };
  const withoutSecretText = (warning: Warning): Warning =>
    withMaskedStack({ ...warning, message: text(warning.message) });

  function withoutSecrets(frame: Json): Json {
    if (Array.isArray(frame)) return frame.map(withoutSecrets);
    if (!isObject(frame)) return frame;
    return Object.fromEntries(
      Object.entries(frame).map(([name, member = null]) => {
        if (name === 'error') return [name, JSON.parse(text(JSON.stringify(member))) as Json];
        return [name, OF_GRAPH.has(name) ? member : withoutSecrets(member)];
      }),
    );
  }

  /** Masks errors only: prints and names of calls are data of graph code. */
  function maskErrors(records: string): string {
    if (text(records) === records) return records;
    const list = JSON.parse(records) as CallRecord[];
    return JSON.stringify(
      list.map((each) => ('error' in each && each.error ? { ...each, error: text(each.error) } : each)),
    );
  }

  return {
    link: {
      ...link,
      checkpoints: {
        ...link.checkpoints,
        saveWrites: (ns, id, writes) =>
          link.checkpoints.saveWrites(
            ns,
            id,
            writes.map((write) => (write.channel === ERROR ? { ...write, data: text(write.data) } : write)),
          ),
      },
      note: (records) => link.note(records.includes('"error":') ? maskErrors(records) : records),
      emit: (frames) =>
        link.emit(
          frames.map((frame) =>
            WITH_ERRORS.test(frame.event) &&
            frame.data.includes('"error":') &&
            text(frame.data) !== frame.data
              ? { ...frame, data: JSON.stringify(withoutSecrets(JSON.parse(frame.data) as Json)) }
              : frame,
          ),
        ),
    },
    end(given) {
      if (given.kind === 'lost') return { ...given, message: text(given.message) };
      const { observed } = given;
      const end =
        observed === undefined || observed.warnings.length === 0
          ? given
          : { ...given, observed: { ...observed, warnings: observed.warnings.map(withoutSecretText) } };
      if (end.kind !== 'error') return end;
      return {
        ...{ ...end, message: text(end.message) },
        ...(end.origin && { origin: withMaskedStack(end.origin) }),
      };
    },
  };
}
