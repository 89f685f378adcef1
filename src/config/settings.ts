/** Typed reads of environment variables; what is wrong is collected, so that all of it is told at once. */
import { z } from 'zod';
import type { JsonObject } from '../kernel/json.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** By graph. */
export type AssistantDefaults = Readonly<Record<string, { config?: JsonObject; context?: JsonObject }>>;

export interface Settings {
  text(name: string, byDefault: string): string;
  /** The same of a path, which cannot be empty: that would be wherever the process was started. */
  path(name: string, byDefault: string, given: string | undefined, label: string): string;
  flag(name: string, byDefault: boolean): boolean;
  /** `given` is the command line's value, which wins. */
  number(
    name: string,
    byDefault: number,
    options?: { min?: number; max?: number; given?: string | undefined; label?: string; decimals?: boolean },
  ): number;
  /** The first of these that is set, else the first: our own name comes before those of other servers. */
  which(own: string, ...others: readonly string[]): string;
  /** Separated by commas. */
  list(name: string, byDefault: readonly string[]): readonly string[];
  /** Secrets, separated by commas. Undefined: no variable; an empty one is a problem, because it would lock nothing. */
  keys(name: string): readonly string[] | undefined;
  logLevel(name: string, byDefault: LogLevel): LogLevel;
  assistantDefaults(name: string): AssistantDefaults;
}

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];
/** Other tools' names. */
const ALIASES: Readonly<Record<string, string>> = { critical: 'fatal', warning: 'warn' };

const defaults = z.record(
  z.string(),
  z.looseObject({
    config: z.record(z.string(), z.json()).optional(),
    configurable: z.record(z.string(), z.json()).optional(),
    context: z.record(z.string(), z.json()).optional(),
  }),
);

export function createSettings(env: Environment, problems: string[]): Settings {
  return {
    text: (name, byDefault) => env[name] ?? byDefault,
    path(name, byDefault, given, label) {
      const text = given ?? env[name] ?? byDefault;
      if (text === '') problems.push(`${given === undefined ? name : label}: expected a path, found ""`);
      return text;
    },
    flag(name, byDefault) {
      const text = env[name];
      if (text === undefined) return byDefault;
      if (['1', 'true', 'yes'].includes(text.toLowerCase())) return true;
      if (['', '0', 'false', 'no'].includes(text.toLowerCase())) return false;
      problems.push(`${name}: expected true or false, found "${text}"`);
      return byDefault;
    },
    number(name, byDefault, options = {}) {
      const { min = 0, max = Number.MAX_SAFE_INTEGER, given, label = name, decimals = false } = options;
      const text = given ?? env[name];
      if (text === undefined) return byDefault;
      const value = Number(text);
      if ((decimals ? /^\d+(\.\d+)?$/ : /^\d+$/).test(text) && value >= min && value <= max) return value;
      problems.push(
        `${given === undefined ? name : label}: expected a ${decimals ? '' : 'whole '}number of at least ${min}` +
          `${max === Number.MAX_SAFE_INTEGER ? '' : ` and at most ${max}`}, found "${text}"`,
      );
      return byDefault;
    },
    which: (own, ...others) => [own, ...others].find((name) => env[name] !== undefined) ?? own,
    list(name, byDefault) {
      const parts = (env[name] ?? '')
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      return parts.length === 0 ? byDefault : parts;
    },
    keys(name) {
      const keys = env[name]?.split(',').map((key) => key.trim());
      if (keys?.includes('')) problems.push(`${name}: expected a key, or no variable at all`);
      return keys;
    },
    logLevel(name, byDefault) {
      const text = env[name]?.toLowerCase() ?? byDefault;
      const level = LEVELS.find((each) => each === (ALIASES[text] ?? text));
      if (level === undefined)
        problems.push(`${name}: expected one of ${LEVELS.join(', ')}, found "${text}"`);
      return level ?? byDefault;
    },
    assistantDefaults(name) {
      const text = env[name];
      if (text === undefined) return {};
      try {
        const parsed = defaults.parse(JSON.parse(text));
        return Object.fromEntries(
          Object.entries(parsed).map(([graphId, { config, configurable, context }]) => [
            graphId,
            {
              ...((config ?? configurable) && {
                config: { ...config, ...(configurable && { configurable }) },
              }),
              ...(context && { context }),
            },
          ]),
        );
      } catch (error) {
        problems.push(
          `${name}: expected {"<graph>": {"configurable": {}, "context": {}}} (${String(error)})`,
        );
        return {};
      }
    },
  };
}
