/** The part of the driver's connection that an exchange uses, and what it remembers of it. */

/** The part of the driver's connection that is used here. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void; destroy(error?: Error): void };
  parse(of: { name: string; text: string }): void;
  describe(of: { type: 'S'; name: string }): void;
  bind(of: { statement: string; values: readonly (string | Buffer | null)[] }): void;
  execute(of: object): void;
  flush(): void;
  sync(): void;
}

/** A statement that the connection has prepared. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Names or places of the values, in the order of `$1`, `$2` and so on. */
  readonly params: readonly (string | number)[];
  types: readonly number[];
  /** Name of the statement for many rows; null: there is none. */
  many?: string | null;
  fields: readonly { readonly name: string; readonly decode: (text: string) => unknown }[];
}

/** State of a connection that outlives its transactions: prepared statements, and row ids that are drawn. */
export interface Prepared {
  readonly statements: Map<string, Statement>;
  /** Those that have to find a row: the same text may be asked with and without. */
  readonly demanding: Map<string, Statement>;
  /** Number of statements that were ever prepared: a name is never used twice. */
  count: number;
  /** Row ids of a table that are drawn and not given yet, from first to before last. */
  readonly ids: Map<string, { next: number; end: number }>;
}

export interface Exchange {
  submit(wire: Wire): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
  handleRowDescription(message: { fields: readonly { name: string; dataTypeID: number }[] }): void;
  handleDataRow(message: { fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  /** The connection tells of these by events of its own. */
  described(types: readonly number[]): void;
  withoutRows(): void;
}
