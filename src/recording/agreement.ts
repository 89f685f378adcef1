/**
 * Agreement of texts up to stand-ins: the log has what graph code made of a secret, a re-execution what it makes of the
 * stand-in. Where one text has a stand-in, the other may have the secret, always the same one.
 */
import { openMasks } from './masks.ts';

/** Texts of different lengths never agree: a stand-in is as long as its secret. */
export type Agreement = (a: string, b: string) => boolean;

export function openAgreement(standIns: readonly string[]): Agreement {
  if (standIns.length === 0) return () => false;
  const { places } = openMasks(new Map(standIns.map((text) => [text, text])));
  /** The secret of each stand-in, in each of its forms. */
  const secrets = new Map<string, string>();
  return (textA, textB) => {
    if (textA.length !== textB.length) return false;
    const [a, b] = [Buffer.from(textA), Buffer.from(textB)];
    if (a.length !== b.length) return false;
    const found = [
      ...places(b).map((place) => [b, a, ...place] as const),
      ...places(a).map((place) => [a, b, ...place] as const),
    ];
    const met = new Map<string, string>();
    const same = Buffer.from(b);
    for (const [side, other, from, to] of found) {
      const standIn = side.toString('latin1', from, to);
      const secret = other.toString('latin1', from, to);
      if (standIn === secret) continue;
      const known = secrets.get(standIn) ?? met.get(standIn);
      if (known !== undefined && known !== secret) return false;
      met.set(standIn, secret);
      a.copy(same, from, from, to);
    }
    if (!same.equals(a)) return false;
    for (const [standIn, secret] of met) secrets.set(standIn, secret);
    return true;
  };
}
