import { systemAssistantId } from '../../actors/assistants.ts';
import { isUuid } from '../../kernel/ids.ts';

/** The id of an assistant that is named by its id or by the name of its graph. */
export const assistantKey = (given: string): string =>
  isUuid(given) ? given.toLowerCase() : systemAssistantId(given);
