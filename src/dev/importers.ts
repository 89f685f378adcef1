/** Which graphs a file belongs to: those that import it, directly or through other files of the project. */

export interface Importers {
  note(file: string, importer: string | undefined): void;
  /** Graphs that the files belong to. A file that nothing imports (settings of the compiler) belongs to all. */
  graphsOf(
    files: readonly string[],
    graphs: readonly { readonly id: string; readonly file: string }[],
  ): string[];
}

export function openImporters(): Importers {
  const importers = new Map<string, Set<string>>();

  function filesAbove(file: string, found = new Set<string>()): Set<string> {
    if (found.has(file)) return found;
    found.add(file);
    for (const importer of importers.get(file) ?? []) filesAbove(importer, found);
    return found;
  }

  return {
    note(file, importer) {
      if (importer === undefined) return;
      let known = importers.get(file);
      if (known === undefined) importers.set(file, (known = new Set()));
      known.add(importer);
    },
    graphsOf(files, graphs) {
      const roots = new Set(graphs.map(({ file }) => file));
      const isShared = files.some((file) => !roots.has(file) && !importers.has(file));
      const above = new Set(files.flatMap((file) => [...filesAbove(file)]));
      return graphs.filter(({ file }) => isShared || above.has(file)).map(({ id }) => id);
    },
  };
}
