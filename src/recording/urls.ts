/** Masks addresses: the user part is left out, and values of parameters that hold keys are replaced by stand-ins. */
import { isKeyParameter } from './key-variables.ts';
import type { Masks } from './masks.ts';
import { isOrdinary } from './ordinary-words.ts';
import { shapeOf } from './stand-ins.ts';

/** An absolute address. Its masked form is masked to itself. */
export function maskUrl(text: string, masks: Masks): string {
  const url = new URL(text);
  url.username = url.password = '';
  return masks.text(maskQuery(url.href));
}

/** Also accepts relative references, and texts that are no address. */
export const maskQuery = (text: string): string =>
  text.replace(/([?&;])([^=&;#?\s]+)=([^&;#\s>"]*)/g, (all, before: string, name: string, value: string) => {
    const plain = decodedForm(name);
    return isKeyParameter(plain) && isKey(decodedForm(value))
      ? `${before}${name}=${masked(plain, value)}`
      : all;
  });

/** The name says enough: short values are keys too, unlike counts, codes of states and words. */
const isKey = (value: string): boolean => value !== '' && !/^\d{1,5}$/.test(value) && !isOrdinary(value);

/** Percent codes stay. Another value of the same shape, and the masked one itself, become the same. */
const masked = (name: string, value: string): string =>
  value.replace(/%[\dA-Fa-f]{2}|[^%]+/g, (part) =>
    part.startsWith('%') ? part : shapeOf(`parameter ${name}`, part),
  );

function decodedForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
