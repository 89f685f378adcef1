/**
 * Counts what an attempt uses of models. Answers on the wire count first; a call that the graph's library reports counts
 * only when no answer was seen for it (a model in the process, gRPC).
 */
import type { ModelAnswer, TokenUsage } from '../recording/usage.ts';
import { limitReached, NOTHING_USED, type Budget, type Usage } from '../thread/usage.ts';

export interface Meter {
  /** Callback handler of the library; undefined without a budget, because callbacks cost time in every node. */
  readonly handler: object | undefined;
  /** Takes an answer of a model. */
  answered(answer: ModelAnswer): void;
  /** Total of all attempts; undefined for a run that used nothing. */
  usage(): Usage | undefined;
  /** Describes the limit that is reached; undefined if none is. */
  reached(): string | undefined;
}

export interface MeterOptions {
  /** Total of earlier attempts, up to the checkpoint that this one continues from. */
  readonly used: Usage | undefined;
  readonly budget: Budget | undefined;
  /** Milliseconds since any moment. */
  readonly elapsed: () => number;
}

/** Answers that wait for the library to report their calls. Code without the library never does, so the oldest go. */
const MAX_UNCLAIMED = 64;

export function openMeter({ used = NOTHING_USED, budget, elapsed }: MeterOptions): Meter {
  const since = elapsed();
  let { calls, inputTokens, outputTokens, unreported = 0 } = used;
  /** Answers on the wire that the library may still report. */
  const unclaimed: { readonly place: number; readonly tokens: TokenUsage | undefined }[] = [];
  let place = 0;
  /** Places at which open calls of the library began, by its run ids. */
  const open = new Map<string, number>();

  function count(tokens: TokenUsage | undefined): void {
    calls += 1;
    inputTokens += tokens?.input ?? 0;
    outputTokens += tokens?.output ?? 0;
    if (tokens === undefined) unreported += 1;
  }

  /** The answer that this call of the library got: the one with its tokens, else the first since it began. */
  function claim(from: number, tokens: TokenUsage | undefined): boolean {
    const isMine = (each: (typeof unclaimed)[number]): boolean =>
      each.place > from && each.tokens?.input === tokens?.input && each.tokens?.output === tokens?.output;
    const exact = unclaimed.findIndex(isMine);
    const found = exact >= 0 ? exact : unclaimed.findIndex((each) => each.place > from);
    if (found >= 0) unclaimed.splice(found, 1);
    return found >= 0;
  }

  const started = (_: unknown, __: unknown, id: string): void => void open.set(id, place);
  const handler = {
    name: 'meter',
    awaitHandlers: true,
    ...{ ignoreChain: true, ignoreAgent: true, ignoreRetriever: true, ignoreCustomEvent: true },
    handleChatModelStart: started,
    handleLLMStart: started,
    handleLLMEnd(result: unknown, id: string) {
      const from = open.get(id) ?? place;
      open.delete(id);
      const tokens = tokensOf(result);
      if (!claim(from, tokens)) count(tokens);
    },
    handleLLMError: (_: unknown, id: string) => void open.delete(id),
  };

  const usage = (): Usage => ({
    ...{ calls, inputTokens, outputTokens },
    ...(unreported > 0 && { unreported }),
    ...(budget?.seconds !== undefined && { ms: (used.ms ?? 0) + Math.round(elapsed() - since) }),
  });
  return {
    handler: budget?.tokens === undefined && budget?.calls === undefined ? undefined : handler,
    answered({ tokens }) {
      count(tokens);
      unclaimed.push({ place: ++place, tokens });
      if (unclaimed.length > MAX_UNCLAIMED) unclaimed.shift();
    },
    usage: () => (calls === 0 && budget?.seconds === undefined ? undefined : usage()),
    reached: () => budget && limitReached(usage(), budget),
  };
}

interface Generation {
  readonly message?: { readonly usage_metadata?: { input_tokens?: unknown; output_tokens?: unknown } };
}
export interface ModelResult {
  readonly generations?: readonly (readonly Generation[])[];
  readonly llmOutput?: { readonly tokenUsage?: { promptTokens?: unknown; completionTokens?: unknown } };
}

/** Tokens that the library reports of a call. */
export function tokensOf(result: unknown): TokenUsage | undefined {
  const { generations, llmOutput } = (result ?? {}) as ModelResult;
  const { input_tokens: input, output_tokens: output } = generations?.[0]?.[0]?.message?.usage_metadata ?? {};
  const { promptTokens, completionTokens } = llmOutput?.tokenUsage ?? {};
  return toTokens(input, output) ?? toTokens(promptTokens, completionTokens);
}

const toTokens = (input: unknown, output: unknown): TokenUsage | undefined =>
  Number.isSafeInteger(input) && Number.isSafeInteger(output)
    ? { input: input as number, output: output as number }
    : undefined;
