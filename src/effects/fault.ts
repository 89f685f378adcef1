/** Where an effect reports what went wrong with nobody to answer to. */
export type OnFault = (error: unknown, context: string) => void;
