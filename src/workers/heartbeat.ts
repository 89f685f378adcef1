/** The heartbeat record that a worker writes to its lifeline every `HEARTBEAT_INTERVAL_MS`. All integers are big-endian. */

export interface Heartbeat {
  /** Own time (worker/own-time.ts) since the main thread's event loop last ran a timer, in milliseconds. */
  readonly stalledMs: number;
  /** Event loop utilisation over about half a second, in thousandths. */
  readonly busyPermille: number;
  /** Resident memory of the process, in bytes. */
  readonly rss: number;
  /** Own time since the start, in milliseconds. */
  readonly ownMs: number;
}

export const HEARTBEAT_INTERVAL_MS = 250;
export const HEARTBEAT_BYTES = 28;
const MAGIC = 0x52574e31;

export function encodeHeartbeat(heartbeat: Heartbeat): Buffer {
  const bytes = Buffer.alloc(HEARTBEAT_BYTES);
  let at = bytes.writeUInt32BE(MAGIC, 0);
  for (const value of [heartbeat.stalledMs, heartbeat.busyPermille]) at = bytes.writeUInt32BE(value, at);
  at = bytes.writeBigUInt64BE(BigInt(heartbeat.rss), at);
  bytes.writeBigUInt64BE(BigInt(heartbeat.ownMs), at);
  return bytes;
}

/** Returns a function that takes bytes of a lifeline and calls `onHeartbeat` per record. Records without `MAGIC` are dropped. */
export function createHeartbeatReader(onHeartbeat: (heartbeat: Heartbeat) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (; rest.length >= HEARTBEAT_BYTES; rest = rest.subarray(HEARTBEAT_BYTES)) {
      if (rest.readUInt32BE(0) !== MAGIC) continue;
      onHeartbeat({
        stalledMs: rest.readUInt32BE(4),
        busyPermille: rest.readUInt32BE(8),
        rss: Number(rest.readBigUInt64BE(12)),
        ownMs: Number(rest.readBigUInt64BE(20)),
      });
    }
  };
}
