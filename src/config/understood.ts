/** The configuration as the server understood it, for the operator. Values of secret settings are masked. */
import { MASKED, maskKeys } from '../kernel/key-names.ts';
import type { Json } from '../kernel/json.ts';
import type { Config } from './config.ts';
import { SETTINGS } from './schema.ts';

export interface UnderstoodSetting {
  /** Path of the setting in the file, or else its variable or option. */
  readonly name: string;
  readonly value: Json;
}

/** Settings without a value are omitted. */
export const understood = (config: Config): readonly UnderstoodSetting[] =>
  SETTINGS.flatMap(({ keys, inFile, names, details }) => {
    const value = keys.reduce<unknown>(
      (of, key) => (of as Record<string, unknown> | undefined)?.[key],
      config,
    );
    const text = value === undefined ? undefined : JSON.stringify(value);
    if (text === undefined || text === '{}' || text === '[]') return [];
    // Variables of `env` are for graph code and may hold anything.
    const isSecret = details.isSecret === true || keys[0] === 'env';
    return [
      { name: inFile?.join('.') ?? names[0]!, value: isSecret ? MASKED : maskKeys(JSON.parse(text) as Json) },
    ];
  });
