import crypto, { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from './clock.ts';

/** Source of identifiers; injected, so that tests are repeatable. */
export interface Ids {
  /** A UUIDv7: sorts by creation, even within a millisecond and when the clock goes back. */
  uuid(): string;
  /** A short unguessable token, used for leases. */
  token(): string;
}

/** `fill` fills with random bytes. */
export function randomIds(clock: Clock, fill: (bytes: Uint8Array) => void = openRandomPool()): Ids {
  let lastMs = 0;
  let count = 0;
  const drawn = Buffer.alloc(TOKEN_BYTES);
  const ofUuid = drawn.subarray(0, UUID_RANDOM_BYTES);
  return {
    uuid() {
      const now = clock.now();
      if (now > lastMs) [lastMs, count] = [now, 0];
      else if (++count > 0xfff) [lastMs, count] = [lastMs + 1, 0];
      fill(ofUuid);
      return uuidv7(lastMs, count, ofUuid);
    },
    token() {
      fill(drawn);
      return drawn.toString('base64url');
    },
  };
}

const TOKEN_BYTES = 16;
const UUID_RANDOM_BYTES = 8;

/** Recorded and re-executed runs replace this function for graph code. */
const { randomFillSync } = crypto;

export const randomBytes = (count: number): Uint8Array => randomFillSync(new Uint8Array(count));

/** Returns a function that fills small views from a pool: a system call for each id would dominate its cost. */
export function openRandomPool(): (bytes: Uint8Array) => void {
  const pool = new Uint8Array(4096);
  let used = pool.length;
  return (bytes) => {
    if (used + bytes.length > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    for (let at = 0; at < bytes.length; at++) bytes[at] = pool[used++]!;
  };
}

/** `count` orders ids of one millisecond; 62 random bits separate those of different processes. */
function uuidv7(ms: number, count: number, random: Buffer): string {
  const time = ms.toString(16).padStart(12, '0');
  const order = (0x7000 | count).toString(16);
  random[0] = 0x80 | (random[0]! & 0x3f);
  const hex = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-${order}-${hex.slice(0, 4)}-${hex.slice(4)}`;
}

/** The beginning of a UUIDv7, its time of creation: enough to tell recent ones apart and to find one. */
export const shortId = (id: string): string => id.slice(0, 13);

/** A UUIDv5: equal for equal name and namespace, on every machine. */
export function uuidv5(name: string, namespace: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
    .subarray(0, 16);
  hash[6] = 0x50 | (hash[6]! & 0x0f);
  hash[8] = 0x80 | (hash[8]! & 0x3f);
  return format(hash);
}

const format = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

/** Milliseconds from 1582-10-15, the epoch of UUIDv6, to 1970. */
const GREGORIAN_OFFSET_MS = 12_219_292_800_000;

/** Creation time of a UUIDv1, v6 or v7 in milliseconds since 1970; undefined for other ids. */
export function uuidTime(id: string): number | undefined {
  if (!isUuid(id)) return undefined;
  const [high = '', middle = '', low = ''] = id.split('-');
  if (low.startsWith('7')) return Number.parseInt(high + middle, 16);
  const digits = low.slice(1);
  const ticks = low.startsWith('6')
    ? high + middle + digits
    : low.startsWith('1')
      ? digits + middle + high
      : '';
  return ticks === '' ? undefined : Math.floor(Number.parseInt(ticks, 16) / 10_000) - GREGORIAN_OFFSET_MS;
}

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Returns the keys of an object, possibly none, if all are interrupt ids; undefined for any other value. */
export function interruptKeys(value: unknown): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const keys = Object.keys(value);
  return keys.every((key) => INTERRUPT_ID.test(key)) ? keys : undefined;
}

/** SHA-256 in hex: identifies a text without revealing it. */
export const fingerprint = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Compares secrets in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(digest(a), digest(b));
}
