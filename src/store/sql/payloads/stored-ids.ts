/** Ids that are UUIDs are given as their 16 bytes; an engine whose columns are texts stores them as they are read. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export type StoredId = string | Uint8Array;

export const toStoredId = (id: string): StoredId =>
  UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id;

export function toId(stored: StoredId): string {
  if (typeof stored === 'string') return stored;
  const hex = Buffer.from(stored).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
