/**
 * Imports of names that only the type metadata of decorators uses. They may be names of interfaces, which have no export to
 * link to: a compiler that knows all files drops such an import and writes `Object`. Here the name is read from the
 * module's namespace, and the metadata falls back to `Object` when it is undefined.
 */
const NAMED_IMPORT = /^import (?:([\w$]+)(?:, )?)?(?:\{ ([^*}]*) \} )? ?from (".*");$/gm;

interface Binding {
  readonly imported: string;
  readonly local: string;
}

/** `plain` is the same code compiled without metadata. */
export function loosenTypeImports(code: string, plain: string): string {
  const used = new Set(
    [...plain.matchAll(NAMED_IMPORT)].flatMap(([, ...clause]) =>
      bindingsOf(clause).map(({ local }) => local),
    ),
  );
  let count = 0;
  return code.replaceAll(NAMED_IMPORT, (statement, ...clause: string[]) => {
    const bindings = bindingsOf(clause);
    const types = bindings.filter(({ local }) => !used.has(local));
    if (types.length === 0) return statement;
    const values = bindings.filter(({ local }) => used.has(local));
    const namespace = `__types${count++}`;
    return [
      ...(values.length === 0 ? [] : [`import { ${values.map(toSpecifier).join(', ')} } from ${clause[2]};`]),
      `import * as ${namespace} from ${clause[2]};`,
      `const ${types.map(({ imported, local }) => `${local} = ${namespace}.${imported}`).join(', ')};`,
    ].join(' ');
  });
}

function bindingsOf([local, named]: readonly (string | undefined)[]): Binding[] {
  const bindings = (named ?? '').split(', ').flatMap((text): Binding[] => {
    const [, imported, as = imported] = /^([\w$]+)(?: as ([\w$]+))?$/.exec(text) ?? [];
    return imported === undefined ? [] : [{ imported, local: as! }];
  });
  return local === undefined ? bindings : [{ imported: 'default', local }, ...bindings];
}

const toSpecifier = ({ imported, local }: Binding): string => `${imported} as ${local}`;
