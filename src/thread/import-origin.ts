/** Where an imported thread came from. */
import type { Json, JsonObject } from '../kernel/json.ts';

/** An assistant that runs of an exported thread used, with the versions that they used. */
export interface UsedAssistant {
  readonly id: string;
  readonly graph: string;
  readonly versions: readonly {
    readonly version: number;
    readonly graph: string;
    readonly name: string;
    readonly config: JsonObject;
    readonly context: Json | undefined;
  }[];
}

/** The exported file that a thread came from. Events of earlier versions lack `assistants` and `libraries`. */
export interface ImportOrigin {
  /** The thread's id in the file. */
  readonly threadId: string;
  /** Version of the program that wrote the file. */
  readonly program: string;
  /** Milliseconds since 1970. */
  readonly exportedAt: number;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
  readonly assistants?: readonly UsedAssistant[];
  /** Versions of packages that the graphs used. */
  readonly libraries?: Readonly<Record<string, string>>;
}
