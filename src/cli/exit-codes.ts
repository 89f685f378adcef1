/** Exit codes of the process. */
export const EXIT_OK = 0;
/** Wrong command, option, configuration or data directory. */
export const EXIT_USAGE = 2;
/** The disk failed, or the outcome of the last commit is unknown. */
export const EXIT_POISONED = 70;
