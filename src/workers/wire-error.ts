/** Converts errors to JSON and back. Only name, message and stack survive, so receivers test the name, not the class. */
import { shorten } from '../graphs/failure.ts';
import type { WireError } from './messages.ts';

/** Accepts any thrown value. Never throws. */
export function toWireError(thrown: unknown): WireError {
  try {
    if (thrown instanceof Error || (typeof thrown === 'object' && thrown !== null && 'message' in thrown)) {
      const { name, message, stack } = thrown as Error;
      return {
        name: typeof name === 'string' ? name : 'Error',
        message: shorten(String(message)),
        ...(typeof stack === 'string' && { stack: shorten(stack) }),
      };
    }
    return { name: 'Error', message: shorten(String(thrown)) };
  } catch {
    return { name: 'Error', message: 'something that cannot be shown' };
  }
}

export function fromWireError({ name, message, stack }: WireError): Error {
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
