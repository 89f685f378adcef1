/**
 * Types of request bodies, from the client types that `npm run types` generates from the OpenAPI document
 * (`test/.cache/api.d.ts`). Without that file nothing is checked.
 */
declare global {
  interface ApiPaths {}
}

/** The body of a request; `unknown` for a path that is no literal and for one that the document does not name. */
export type BodyOf<Method extends string, Path extends string> = [Described<Method, Path>] extends [never]
  ? unknown
  : Described<Method, Path> | string | Uint8Array | undefined;

/** A run to create. */
export type RunBody =
  unknown extends BodyOf<'POST', '/runs'> ? any : Extract<BodyOf<'POST', '/runs'>, { assistant_id: string }>;

type Described<Method extends string, Path extends string> = {
  [Known in keyof ApiPaths]: Known extends string
    ? Matches<Segments<WithoutQuery<Path>>, Segments<Known>> extends true
      ? JsonOf<ApiPaths[Known], Lowercase<Method>>
      : never
    : never;
}[keyof ApiPaths];

type JsonOf<Operations, Method extends string> = Operations extends {
  [Name in Method]: { requestBody?: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

type WithoutQuery<Path extends string> = Path extends `${infer Before}?${string}` ? Before : Path;

type Segments<Path extends string> = Path extends `${infer First}/${infer Rest}`
  ? [First, ...Segments<Rest>]
  : [Path];

type Matches<Given, Known> = Given extends [infer First, ...infer Rest]
  ? Known extends [infer Wanted, ...infer Others]
    ? First extends Wanted
      ? Matches<Rest, Others>
      : Wanted extends `{${string}}`
        ? Matches<Rest, Others>
        : false
    : false
  : Known extends []
    ? true
    : false;
