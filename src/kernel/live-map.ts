/**
 * A map for entries that come and go in a process that lives long. A `Map` that outgrows its table links the old table to
 * the new one. After a full collection minor ones keep that chain alive, and with it the values of most deleted entries.
 * Emptied cells keep only keys.
 */
export class LiveMap<K, V> {
  readonly #cells = new Map<K, { value: V | undefined }>();

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#cells.set(key, { value });
  }

  delete(key: K): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    cell.value = undefined;
    this.#cells.delete(key);
  }
}
