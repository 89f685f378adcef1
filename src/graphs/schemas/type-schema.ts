/**
 * Converts TypeScript types to JSON Schema, draft-07. Types without a JSON form (functions, library classes, type
 * parameters) become any value; a recursive type becomes a definition.
 */
import type { JsonObject } from '../../kernel/json.ts';
import type { Checker, Compiler, Type, TypeSymbol } from './compiler.ts';
import { toDraft07 } from './draft-07.ts';

/** Bounds generic types that expand endlessly without repeating a type. */
const MAX_TYPE_DEPTH = 12;

export interface TypeSchemas {
  /** Undefined if the type is not an object. */
  root(type: Type): JsonObject | undefined;
}

export function createTypeSchemas({ SymbolFlags }: Compiler, checker: Checker): TypeSchemas {
  return {
    root(type) {
      if (checker.getAnyType() === type || !isObjectType(type)) return undefined;
      const definitions: Record<string, JsonObject> = {};
      const schema = createConverter(definitions).object(type, 0);
      return toDraft07({ ...schema, ...(Object.keys(definitions).length > 0 && { definitions }) });
    },
  };

  function isObjectType(type: Type): boolean {
    if (type.isUnion() || (type.isIntersection() && type.types.some(primitive))) return false;
    return type.getProperties().length > 0 && !primitive(type);
  }

  function primitive(type: Type): JsonObject | undefined {
    if (type.isStringLiteral()) return { type: 'string', const: type.value };
    if (type.isNumberLiteral()) return { type: 'number', const: type.value };
    const text = checker.typeToString(type);
    switch (text) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return { type: text };
      case 'true':
      case 'false':
        return { type: 'boolean', const: text === 'true' };
      case 'bigint':
        return { type: 'integer' };
    }
    return text.startsWith('`') ? { type: 'string' } : undefined;
  }

  function createConverter(definitions: Record<string, JsonObject>) {
    const open = new Map<Type, { name?: string }>();

    function convert(type: Type, depth: number): JsonObject {
      if (depth > MAX_TYPE_DEPTH) return {};
      const simple = primitive(type);
      if (simple !== undefined) return simple;
      if (nameOf(type.aliasSymbol) === 'Messages' && isOfLibrary(type.aliasSymbol))
        return { type: 'array', items: message() };
      if (isMessage(type.aliasSymbol) || isMessage(type.getSymbol())) return message();
      if (type.isUnion()) return union(type.types, depth);
      if (type.isIntersection()) {
        // A branded primitive, `string & {brand}`, is its primitive.
        const part = type.types.map(primitive).find((found) => found !== undefined);
        return part ?? object(type, depth);
      }
      if (checker.isTupleType(type)) {
        const items = elements(type).map((item) => convert(item, depth + 1));
        const { target } = type as { target?: { minLength?: number; hasRestElement?: boolean } };
        return {
          type: 'array',
          items,
          minItems: target?.minLength ?? items.length,
          ...(target?.hasRestElement !== true && { maxItems: items.length }),
        };
      }
      if (checker.isArrayType(type)) {
        const [item] = elements(type);
        return { type: 'array', ...(item !== undefined && { items: convert(item, depth + 1) }) };
      }
      return object(type, depth);
    }

    const elements = (type: Type): readonly Type[] =>
      checker.getTypeArguments(type as Parameters<Checker['getTypeArguments']>[0]);

    function union(types: readonly Type[], depth: number): JsonObject {
      const wanted = types.filter(
        (type) =>
          checker.getUndefinedType() !== type &&
          // `Overwrite` only tells a reducer to replace the value; clients cannot send it.
          !['OverwriteValue', 'Overwrite'].includes(
            nameOf(type.aliasSymbol) ?? nameOf(type.getSymbol()) ?? '',
          ),
      );
      // A messages reducer accepts a union of many forms; the schema shows just messages.
      if (wanted.some((type) => checker.isArrayType(type) && elements(type).some(containsMessage)))
        return { type: 'array', items: message() };
      if (wanted.some(containsMessage)) return message();
      return anyOf(wanted.map((type) => convert(type, depth + 1)));
    }

    const containsMessage = (type: Type): boolean =>
      isMessage(type.getSymbol()) || (type.isUnion() && type.types.some(containsMessage));

    function object(type: Type, depth: number): JsonObject {
      const symbol = type.getSymbol();
      if (nameOf(symbol) === 'Date') return { type: 'string', format: 'date-time' };
      if (isOpaque(type)) return {};
      const again = open.get(type);
      if (again !== undefined) {
        again.name ??= freshName(nameOf(type.aliasSymbol) ?? nameOf(symbol) ?? 'Type');
        return { $ref: `#/definitions/${again.name}` };
      }
      const entry: { name?: string } = {};
      open.set(type, entry);
      const schema = members(type, depth);
      open.delete(type);
      if (entry.name === undefined) return schema;
      definitions[entry.name] = schema;
      return { $ref: `#/definitions/${entry.name}` };
    }

    function members(type: Type, depth: number): JsonObject {
      const properties: Record<string, JsonObject> = {};
      const required: string[] = [];
      for (const property of type.getProperties()) {
        const own = checker.getTypeOfSymbol(property);
        if (/^#|^__[@#]/.test(property.name) || own.getCallSignatures().length > 0) continue;
        const text = property
          .getDocumentationComment(checker)
          .map((part) => part.text)
          .join('')
          .trim();
        const schema = convert(own, depth + 1);
        properties[property.name] =
          text === '' || '$ref' in schema ? schema : { ...schema, description: text };
        const optional = (property.flags & SymbolFlags.Optional) !== 0 || takesUndefined(own);
        if (!optional) required.push(property.name);
      }
      // An index signature of `any` equals JSON Schema's default for additional properties.
      const index = checker.getIndexInfosOfType(type).find((info) => info.type !== checker.getAnyType());
      return {
        type: 'object',
        properties,
        ...(required.length > 0 && { required }),
        ...(index !== undefined && { additionalProperties: convert(index.type, depth + 1) }),
      };
    }

    const takesUndefined = (type: Type): boolean =>
      type.isUnion() && type.types.includes(checker.getUndefinedType());

    function freshName(base: string): string {
      const taken = new Set([...Object.keys(definitions), ...[...open.values()].map(({ name }) => name)]);
      const plain = base.replace(/\W/g, '') || 'Type';
      for (let n = 1; ; n++) {
        const name = n === 1 ? plain : `${plain}${n}`;
        if (!taken.has(name)) return name;
      }
    }

    function message(): JsonObject {
      definitions['BaseMessage'] ??= MESSAGE;
      return { $ref: '#/definitions/BaseMessage' };
    }

    return { object };
  }

  /** True for functions, library classes, containers such as `Map`, and types without members. */
  function isOpaque(type: Type): boolean {
    if (type.getCallSignatures().length > 0) return true;
    if (type.isClass() || type.getConstructSignatures().length > 0) return isOfLibrary(type.getSymbol());
    if (
      /^(?:Readonly)?(?:Map|Set)$|^(?:Weak(?:Map|Set)|Promise|RegExp|Error|Uint8Array|Buffer)$/.test(
        nameOf(type.getSymbol()) ?? '',
      )
    )
      return true;
    return type.getProperties().length === 0 && checker.getIndexInfosOfType(type).length === 0;
  }
}

/** The union of schemas, with string literals merged to one enum. A union with "any" is "any". */
function anyOf(schemas: readonly JsonObject[]): JsonObject {
  if (schemas.length === 0 || schemas.some((schema) => Object.keys(schema).length === 0)) return {};
  const literals = schemas.flatMap(({ const: value }) => (value === undefined ? [] : [value]));
  const strings = literals.filter((value) => typeof value === 'string');
  const isPlain = (type: string): boolean =>
    schemas.some((schema) => schema['type'] === type && !('const' in schema));
  const choices: JsonObject[] = schemas.filter((schema) => !('const' in schema));
  if (strings.length > 0 && !isPlain('string'))
    choices.push(
      strings.length === 1 ? { type: 'string', const: strings[0]! } : { type: 'string', enum: strings },
    );
  if (literals.includes(true) && literals.includes(false)) choices.push({ type: 'boolean' });
  else
    choices.push(
      ...schemas.filter(({ const: value }) => typeof value === 'boolean' || typeof value === 'number'),
    );
  const different = [...new Map(choices.map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 ? different[0]! : { anyOf: different };
}

const nameOf = (symbol: TypeSymbol | undefined): string | undefined => symbol?.name;

const isOfLibrary = (symbol: TypeSymbol | undefined): boolean =>
  symbol?.declarations?.some((declaration) => declaration.getSourceFile().isDeclarationFile) ?? false;

const isMessage = (symbol: TypeSymbol | undefined): boolean =>
  /^(?:Base|AI|Human|System|Tool|Function|Chat|Remove)Message(?:Chunk|Like)?$/.test(nameOf(symbol) ?? '') &&
  isOfLibrary(symbol);

const TEXT: JsonObject = { type: 'string' };
const MESSAGE: JsonObject = {
  type: 'object',
  properties: {
    type: TEXT,
    content: { anyOf: [TEXT, { type: 'array', items: { type: 'object' } }] },
    id: TEXT,
    name: TEXT,
    additional_kwargs: { type: 'object' },
    response_metadata: { type: 'object' },
    tool_calls: { type: 'array', items: { type: 'object' } },
    tool_call_id: TEXT,
  },
  required: ['type', 'content'],
};
