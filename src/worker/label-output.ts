/** Lines that graph code prints begin with the run that printed them, while a project is under development. */

/** The part of a stream that is replaced. */
interface Printed {
  write(chunk: unknown, ...rest: unknown[]): boolean;
}

/** `labelOf`: the label of the current run; undefined outside of runs. */
export function labelLines(stream: Printed, labelOf: () => string | undefined): void {
  const { write } = stream;
  let isLineOpen = false;
  stream.write = (chunk, ...rest) => {
    const label = labelOf();
    if (typeof chunk !== 'string' || chunk === '') return write.call(stream, chunk, ...rest);
    const lines = chunk.split(/(?<=\n)/);
    const text = lines.map((line, at) =>
      label === undefined || (at === 0 && isLineOpen) ? line : `${label} | ${line}`,
    );
    isLineOpen = !chunk.endsWith('\n');
    return write.call(stream, text.join(''), ...rest);
  };
}
