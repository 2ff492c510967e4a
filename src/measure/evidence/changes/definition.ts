import type { Random } from "../../../base/random/random.js";

/** A tool result that is changed, and what it may be changed with. */
export interface GivenResult {
  tag: string;
  input: string;
  /** What the tool answered. */
  text: string;
  /** What the same tool answered elsewhere, other than here. */
  others: readonly string[];
  /** For whatever is drawn: the same for the same tree, result and seed. */
  random: Random;
}

/** One way to change a tool result: the other evidence that an answer is asked to survive. */
export interface ChangeDefinition {
  readonly name: string;
  /** What it does, after "the result is". */
  readonly said: string;
  /** The other result; undefined where it cannot be changed so. */
  readonly change: (given: GivenResult) => string | undefined;
}
