import type { Phrase } from '@acme/words';

export const shout = (phrase: Phrase): Phrase => phrase.toUpperCase();
