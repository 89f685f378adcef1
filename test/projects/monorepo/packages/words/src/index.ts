export type Phrase = string;

export const politely = (phrase: Phrase): Phrase => `please ${phrase}`;
