const { defineProperty } = Object;

/**
 * Adds to the end of a list without asking anything that graph code could have replaced for the moment: `push`, or what
 * stands at an index of all lists, would be handed the list, and with it what others of the thread wait to say.
 */
export function append<T>(list: T[], value: T): void {
  defineProperty(list, list.length, { value, writable: true, enumerable: true, configurable: true });
}
