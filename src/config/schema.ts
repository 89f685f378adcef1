/** The settings as a list, and the schema of the file that they make up. */
import { z } from 'zod';
import { OBJECT } from './kinds.ts';
import { coreOf, detailsOf, type Details } from './setting.ts';
import { settings } from './settings.ts';

export interface Setting {
  /** Path in `Config`. */
  readonly keys: readonly string[];
  readonly schema: z.ZodType;
  readonly details: Details;
  /** Option and variables: the first one that is set counts. */
  readonly names: readonly string[];
  /** Path in the file. */
  readonly inFile?: readonly string[] | undefined;
}

export const SETTINGS: readonly Setting[] = settingsIn(settings, []);

function settingsIn(schema: z.core.$ZodType, keys: readonly string[]): Setting[] {
  const details = detailsOf(schema);
  const from = details.from?.split(' ');
  if (from === undefined) {
    const { shape } = coreOf(schema) as z.ZodObject;
    return Object.entries(shape).flatMap(([key, member]) => settingsIn(member, [...keys, key]));
  }
  const isName = (source: string): boolean => /^(--|[A-Z])/.test(source);
  const inFile = from.find((source) => !isName(source))?.split('.');
  return [{ ...{ keys, details, inFile }, schema: schema as z.ZodType, names: from.filter(isName) }];
}

/** Descriptions of the objects that hold settings. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  http: 'The interface.',
  'http.cors': 'Pages of other origins.',
  webhooks: 'What is sent at the end of runs.',
  'webhooks.url': 'Receivers that are allowed.',
  crons: 'Schedules.',
  store: 'Items that graphs keep beyond threads.',
  'store.ttl': 'How long items live.',
  checkpointer: 'Saved states of threads.',
  'checkpointer.ttl': "What happens to threads that are left alone; a thread's own `ttl` wins.",
};

export const FOR_OTHER_TOOLS = 'For other tools.';
/** Keys for editors, build and hosting tools. */
const IGNORED = [
  ...['$schema', '_INTERNAL_docker_tag', 'api_version', 'base_image', 'docker_compose_file', 'image_distro'],
  ...['keep_pkg_tools', 'node_loader', 'node_version', 'pip_config_file', 'pip_installer', 'python_version'],
  ...['source'],
];

function nest(members: readonly Setting[], path: readonly string[]): z.ZodObject {
  const byKey = Map.groupBy(members, ({ inFile }) => inFile![path.length]!);
  const shape = [...byKey].map(([key, [first, ...others]]): [string, z.ZodType] => {
    const at = [...path, key];
    if (first!.inFile!.length === at.length) return [key, first!.schema];
    const block = nest([first!, ...others], at).optional();
    return [key, block.describe(DESCRIPTIONS[at.join('.')]!)];
  });
  return z.object(Object.fromEntries(shape), OBJECT);
}

export const fileSchema = nest(
  SETTINGS.filter(({ inFile }) => inFile !== undefined),
  [],
).extend(Object.fromEntries(IGNORED.map((key) => [key, z.any().optional().describe(FOR_OTHER_TOOLS)])));

/** Whether an object has no other members than the declared ones. */
export const isClosed = (schema: z.core.$ZodType): schema is z.ZodObject =>
  schema instanceof z.ZodObject && schema.def.catchall === undefined;

/** `adjust`: changes the JSON Schema of each member. */
export function toJsonSchema(adjust?: z.core.ToJSONSchemaParams['override']): z.core.JSONSchema.BaseSchema {
  const schema = z.toJSONSchema(fileSchema, {
    ...{ io: 'input', unrepresentable: 'any' },
    override(member) {
      // Editors mark unknown members, of which the server warns.
      if (isClosed(member.zodSchema)) member.jsonSchema.additionalProperties = false;
      delete member.jsonSchema.readOnly;
      adjust?.(member);
    },
  });
  return { ...schema, required: ['graphs'] };
}
