/** Whether an address of a log names a database; else it names a folder. */
export const isDatabaseUrl = (address: string): boolean => /^postgres(?:ql)?:\/\//i.test(address);
