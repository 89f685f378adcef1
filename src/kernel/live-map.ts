/**
 * A map for entries that come and go in a process that lives long. A `Map` that outgrows its table links the old table to
 * the new one. After a full collection the young generation keeps such a chain alive, and with it most entries that have
 * been deleted, until the next full collection. Cells that are emptied keep only their keys.
 */
export class LiveMap<K, V> {
  readonly #cells = new Map<K, { value: V | undefined }>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#cells.has(key);
  }

  set(key: K, value: V): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  delete(key: K): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    cell.value = undefined;
    this.#cells.delete(key);
  }

  clear(): void {
    for (const key of this.#cells.keys()) this.delete(key);
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, { value }] of this.#cells) yield [key, value as V];
  }

  *values(): Generator<V> {
    for (const { value } of this.#cells.values()) yield value as V;
  }
}
