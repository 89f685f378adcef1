/** Receives errors of background work that has no caller to report to. */
export type OnFault = (error: unknown, context: string) => void;
