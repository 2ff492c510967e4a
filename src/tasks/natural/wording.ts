import { shown } from "../../../common/options/check-arguments.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import type { Random } from "../../base/random/random.js";
import type { TaskSetOptions } from "../tasks/task-set.js";

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

/** The dials of the natural families. */
export interface NaturalOptions extends TaskSetOptions {
  /** 1 (the default) to 3: more steps, larger numbers, more that is beside the point. */
  level?: number;
  /** 1 (the default): the test is asked in wordings that training never shows; 0: in the same ones. */
  unseen?: number;
  /** Which country the pages are of; for demonstrations that must not tell the answers. Default 0. */
  country?: number;
}

/** What every prompt starts with: how tools are called and where the answer goes. */
const instructions =
  "Answer step by step. Think inside <think></think>. Look things up with <search>words</search> and compute with <python>code</python>; what they find comes back in <result></result>. End with <answer>\\boxed{the answer}</answer>.";

export const promptFor = (text: string): ChatMessage[] => [
  { role: "system", content: instructions },
  { role: "user", content: text },
];

/** The dials with their defaults; throws where one is out of range. */
export function natural(family: string, options: NaturalOptions) {
  const { seed = 1, train = 512, test = 64, level = 1, unseen = 1, country = 0 } = options;
  const refuse = (rule: string, got: unknown): never => {
    throw new RangeError(`Cannot make ${family} tasks: ${rule}, got ${shown(got)}`);
  };
  if (![1, 2, 3].includes(level)) refuse("level must be 1, 2 or 3", level);
  if (![0, 1].includes(unseen)) refuse("unseen must be 0 or 1", unseen);
  if (!Number.isSafeInteger(country) || country < 0) {
    refuse("country must be an integer of at least 0", country);
  }
  const shareOf = (part: "train" | "test"): Share =>
    part === "test" && unseen === 1 ? "held" : "seen";
  return { seed, sizes: { train, test }, level, country, shareOf };
}
