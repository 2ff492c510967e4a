import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";

/** A trajectory whose tokens are checked. */
export interface TokenRow {
  group: string;
  tree: RolloutTree;
  trajectory: Trajectory;
  /** What made the tokens; undefined where nobody here reads them. */
  tokenizer: Tokenizer | undefined;
  /** Whether the ids are those that were sampled, and not made of text here. */
  hasIds: boolean;
  /** Whether it is known which tokens are trained, and not read from marks in the text. */
  hasMask: boolean;
  /** The advantage of each token of the response, where there is one. */
  advantages?: Float32Array;
}

/** Tokens that one side wrote without a break, as pairs of a first one and the one after the last. */
export function spansOf({ trajectory: { written } }: TokenRow, byModel: boolean) {
  const spans: [from: number, to: number][] = [];
  for (let from = 0; from < written.length;) {
    let to = from;
    while (to < written.length && written[to] === written[from]) to++;
    if ((written[from] === 1) === byModel) spans.push([from, to]);
    from = to;
  }
  return spans;
}

const texts = new WeakMap<Tokenizer, Map<number, readonly [whole: string, plain: string]>>();

/** The text of one token, with special tokens and without. */
function textsOf(tokenizer: Tokenizer, id: number): readonly [string, string] {
  let known = texts.get(tokenizer);
  if (!known) texts.set(tokenizer, (known = new Map()));
  const had = known.get(id);
  if (had) return had;
  const made = [tokenizer.decode([id]), tokenizer.decode([id], { skipSpecial: true })] as const;
  known.set(id, made);
  return made;
}

export const tokenText = (tokenizer: Tokenizer, id: number) => textsOf(tokenizer, id)[0];

/** Whether a token is one that no text becomes by itself. */
export function isSpecial(tokenizer: Tokenizer, id: number): boolean {
  const [whole, plain] = textsOf(tokenizer, id);
  return whole !== "" && plain === "";
}

/** The text of some tokens with special ones, and where each token begins in it. */
export function laidText(tokenizer: Tokenizer, ids: ArrayLike<number>) {
  const starts: number[] = [];
  let text = "";
  for (let i = 0; i < ids.length; i++) {
    starts.push(text.length);
    text += tokenText(tokenizer, ids[i]!);
  }
  return { text, starts };
}

/** The tokens that hold the characters from one place to another. */
export function tokensOf(starts: readonly number[], from: number, to: number): [number, number] {
  let first = starts.findIndex((start) => start > from);
  first = first < 0 ? starts.length - 1 : first - 1;
  let last = first;
  while (last < starts.length && starts[last]! < to) last++;
  return [Math.max(0, first), Math.max(first + 1, last)];
}
