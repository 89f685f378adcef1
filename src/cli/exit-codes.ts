/** Exit codes of the process. */
export const EXIT_OK = 0;
/** A wrong command, option, configuration or data directory. */
export const EXIT_USAGE = 2;
/** A disk that takes nothing, or left the outcome of the last commit unknown. */
export const EXIT_POISONED = 70;
