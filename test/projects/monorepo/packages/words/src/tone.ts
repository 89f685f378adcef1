export enum Tone {
  Calm = 'calm',
  Loud = 'loud',
}
