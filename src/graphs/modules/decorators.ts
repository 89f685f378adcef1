/**
 * Runtime helpers of compiled legacy decorators, as members of the global `babelHelpers` that oxc's output uses.
 * Decorators apply from last to first; one that returns undefined leaves its target unchanged.
 */
type Decorator = (target: unknown, key?: string | symbol, descriptor?: PropertyDescriptor) => unknown;
type ParameterDecorator = (target: unknown, key: string | symbol | undefined, index: number) => void;
type Metadata = { metadata?: (key: string, value: unknown) => Decorator };

/** `member` is undefined for a class or field, and null for a method or accessor: its descriptor is read from the target. */
function decorate(
  decorators: readonly (Decorator | undefined)[],
  target: object,
  key?: string | symbol,
  member?: PropertyDescriptor | null,
): unknown {
  const isMember = key !== undefined;
  const descriptor = member === null ? Object.getOwnPropertyDescriptor(target, key!) : member;
  let result: unknown = isMember ? descriptor : target;
  for (const apply of decorators.toReversed())
    if (apply !== undefined)
      result =
        (isMember ? apply(target, key, result as PropertyDescriptor | undefined) : apply(result)) ?? result;
  if (isMember && result !== undefined) Object.defineProperty(target, key, result as PropertyDescriptor);
  return result;
}

const decorateParam =
  (index: number, apply: ParameterDecorator): Decorator =>
  (target, key) => {
    apply(target, key, index);
  };

/** Stores type metadata if the project has loaded `reflect-metadata`; otherwise there is no decorator. */
const decorateMetadata = (key: string, value: unknown): Decorator | undefined =>
  (Reflect as Metadata).metadata?.(key, value);

export function defineDecoratorHelpers(): void {
  const known = Reflect.get(globalThis, 'babelHelpers') as object | undefined;
  Reflect.set(globalThis, 'babelHelpers', { ...known, decorate, decorateParam, decorateMetadata });
}
