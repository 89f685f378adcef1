/**
 * The form of a difference: a row of steps. An even number 2n is followed by n characters of the text. An odd number
 * 2n + 1 copies n characters; the number after it says from where, counted from the place behind the last copy and what
 * was spelled since. Places count through the bases, one after the other, and then through the text itself.
 */
export interface Steps {
  copy(place: number, length: number): void;
  spell(from: number, to: number): void;
  readonly spelled: number;
  end(): string;
}

export function createSteps(text: string): Steps {
  let steps = '';
  /** Behind the last copy and what was spelled since. */
  let expected = 0;
  let copied = { place: 0, length: 0 };
  let own = { from: 0, to: 0 };
  let spelled = 0;
  function write(): void {
    if (copied.length > 0) {
      const off = copied.place - expected;
      steps += numeral(copied.length * 2 + 1) + numeral(off < 0 ? -2 * off - 1 : 2 * off);
      expected = copied.place + copied.length;
    }
    const length = own.to - own.from;
    if (length > 0) steps += numeral(length * 2) + text.slice(own.from, own.to);
    expected += length;
    copied = { place: 0, length: 0 };
    own = { from: own.to, to: own.to };
  }
  return {
    copy(place, length) {
      if (length <= 0) return;
      if (own.to === own.from && copied.length > 0 && copied.place + copied.length === place) {
        copied.length += length;
        return;
      }
      write();
      copied = { place, length };
    },
    spell(from, to) {
      if (own.to !== from || own.to === own.from) own = { from, to };
      else own.to = to;
      spelled += to - from;
    },
    get spelled() {
      return spelled;
    },
    end() {
      write();
      return steps;
    },
  };
}

/** A number ends with one of 64 characters; before it stand its lower digits, of 32. All are of one byte. */
const FIRST = 32;
const LAST_DIGITS = 64;
const MORE = 32;

function numeral(value: number): string {
  let text = '';
  let rest = value;
  for (; rest >= LAST_DIGITS; rest = Math.floor(rest / MORE))
    text += String.fromCharCode(FIRST + LAST_DIGITS + (rest % MORE));
  return text + String.fromCharCode(FIRST + rest);
}

/** Long texts have thousands. `text` is what is spelled; else `place` says where it is copied from. */
export interface Step {
  readonly at: number;
  readonly length: number;
  readonly place: number;
  readonly text?: string;
}

export function readSteps(difference: string): Step[] {
  let [at, to, expected] = [0, 0, 0];
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= MORE) {
      const digit = difference.charCodeAt(at++) - FIRST;
      if (digit < LAST_DIGITS) return value + digit * scale;
      value += (digit - LAST_DIGITS) * scale;
    }
  };
  const steps: Step[] = [];
  while (at < difference.length) {
    const kind = number();
    const length = Math.floor(kind / 2);
    if (kind % 2 === 0) {
      steps.push({ at: to, length, place: 0, text: difference.slice(at, at + length) });
      at += length;
      expected += length;
    } else {
      const off = number();
      const place = expected + (off % 2 === 0 ? off / 2 : -(off + 1) / 2);
      steps.push({ at: to, length, place });
      expected = place + length;
    }
    to += length;
  }
  return steps;
}
