import type { Random } from "../../random/random.js";

/** Ways to say one thing: those that training shows, and those that are held out for the test. */
export interface Wording {
  seen: readonly string[];
  held: readonly string[];
}

/** Which of the wordings a text is made of. */
export type Share = keyof Wording;

/** Says things in one share of the wordings, and remembers which were used. */
export class Speaker {
  readonly #share: Share;
  readonly #random: Random;
  /** The wordings used, as they stand in the lists. */
  readonly used: string[] = [];

  constructor(share: Share, random: Random) {
    this.#share = share;
    this.#random = random;
  }

  /** One of the ways to say it, with its gaps filled. */
  say(wording: Wording, gaps: Readonly<Record<string, string | number>> = {}): string {
    const chosen = this.#random.choose(wording[this.#share]);
    this.used.push(chosen);
    return fillGaps(chosen, gaps);
  }
}

/** `{name}` becomes what the name stands for. */
export function fillGaps(text: string, gaps: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = gaps[name];
    if (value === undefined) throw new Error(`Cannot fill ${whole} in "${text}": it is not given`);
    return String(value);
  });
}

/** The text with its first letter as a sentence begins. */
export const asSentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
