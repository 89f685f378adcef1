/** An option names something that the run or its graph does not have. */
export class WrongOption extends Error {
  override readonly name = 'WrongOption';
}
