/** Names the place in the user's own files that an error of loading comes from. */
import { placeText, userPlaceOf } from '../kernel/stack.ts';

/**
 * One line, `Name: file:line:column: message` where the place is known. The source lines around it follow if the file
 * could not be compiled.
 */
export function describeLoadError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [first = ''] = error.message.split('\n');
  if (error instanceof SyntaxError && PLACED.test(first)) return `${error.name}: ${error.message}`;
  const place = userPlaceOf(error.stack ?? '');
  return [error.name, ...(place === undefined ? [] : [placeText(place)]), first].join(': ');
}

const PLACED = /^.+:\d+:\d+: /;
