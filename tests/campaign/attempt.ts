// What a campaign is made of: an area makes attempts by the dozen, each from the draws of its own seed.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../src/base/random/random.js";

/** How an attempt ended. `kept`: the promise was. All but it and `skipped` are faults of ours. */
export const verdicts = ["kept", "lost", "silent", "hung", "died", "broken", "skipped"] as const;
export type Verdict = (typeof verdicts)[number];

/** What was promised and did not hold. */
export class Broken extends Error {
  constructor(
    readonly verdict: Verdict,
    message: string,
  ) {
    super(message);
  }
}

/** What an attempt has at hand: a folder of its own, and what is undone after it. */
export class Place {
  readonly #undo: (() => unknown)[] = [];
  constructor(
    readonly folder: string,
    /** A folder that all attempts of a campaign share, for what they compare with. */
    readonly shared: string,
  ) {
    mkdirSync(folder, { recursive: true });
    mkdirSync(shared, { recursive: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** As a test's: helpers of tests take a place as well. */
  after(undo?: (...none: never[]) => unknown): void {
    if (undo) this.#undo.push(undo as () => unknown);
  }

  skip(why = "not possible here"): void {
    throw new Broken("skipped", why);
  }

  async clear(): Promise<void> {
    for (const undo of this.#undo.reverse()) await undo();
  }
}

/** One attempt, before it is made. */
export interface Attempt {
  /** What is done. */
  name: string;
  /** What is promised about it. */
  promise: string;
  /** Does it, and says what happened; throws where the promise did not hold. */
  run(place: Place): Promise<string>;
}

export interface Area {
  name: string;
  /** How many attempts it has in each round of all areas. */
  share: number;
  /** An attempt may take so long. */
  seconds: number;
  make(random: Random): Attempt;
}

/** The area whose turn it is. */
export function areaOf(areas: readonly Area[], index: number): Area {
  const round = Math.max(...areas.map(({ share }) => share));
  // Areas take turns, so that a short campaign has something of each.
  const turns = Array.from({ length: round }, (_, i) => areas.filter(({ share }) => share > i));
  const order = turns.flat();
  return order[index % order.length]!;
}
