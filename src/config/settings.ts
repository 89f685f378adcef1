/** Typed reads of environment variables; collects all problems so that they are reported together. */
import { environment, type Values, type VariableMeta, type VariableName } from './environment.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  /**
   * Returns the default where the variable is missing or wrong. `given`: value of its command-line option, which wins.
   */
  read<N extends VariableName>(name: N, given?: string): Values[N];
}

export function createSettings(env: Environment, problems: string[]): Settings {
  return {
    read<N extends VariableName>(name: N, given?: string): Values[N] {
      const schema = environment.shape[name];
      const { others = [], option = name } = schema.meta() as VariableMeta;
      const set = [name, ...others].find((each) => env[each] !== undefined);
      const text = given ?? (set && env[set]);
      if (text === undefined) return schema.parse(undefined) as Values[N];
      const result = schema.safeParse(text);
      if (result.success) return result.data as Values[N];
      const label = given === undefined ? set : option;
      problems.push(...result.error.issues.map(({ message }) => `${label}: ${message}`));
      return schema.parse(undefined) as Values[N];
    },
  };
}
