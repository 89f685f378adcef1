/** The dynamic loader's message for a shared library that a machine lacks, of glibc and of musl. */
const MISSING = [
  /^(\S+): cannot open shared object file/,
  /^Error loading shared library (\S+): No such file/,
];

/** Names the shared library that an addon needs and the machine lacks; undefined for other errors. */
export function missingLibraryText(thrown: unknown): string | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause)
    for (const pattern of MISSING) {
      const [, name] = pattern.exec(error.message) ?? [];
      if (name !== undefined)
        return `${name}: this machine lacks the shared library; install the package that has it`;
    }
  return undefined;
}
