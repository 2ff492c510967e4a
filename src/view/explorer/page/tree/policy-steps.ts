import { numbersOf } from "../../../page/unpack.js";
import type { PackedScores } from "../../payload.js";
import type { TreeFacts } from "./tree-facts.js";
import type { WordCard } from "./word-cards.js";

/** What policies say of a tree, one after another: from 0 to `last`, and between two of them. */
export interface PolicySteps {
  last: number;
  /** The entropies of all tokens under all of them, for a scale that none of them leaves. */
  all: Float32Array;
  entropiesAt: (step: number) => Float32Array;
  /** -ln p of all tokens. */
  surprisesAt: (step: number) => Float32Array;
  /** What a word of a card is given. */
  chance: (card: number, word: number, step: number) => number;
  /** Of each trajectory the logarithm of its probability, over that under the first policy. */
  logRatiosAt: (step: number) => Float64Array;
}

/** Reads what so many policies said. */
export function readPolicies(
  { tree, paths }: TreeFacts,
  cards: readonly WordCard[],
  packed: PackedScores,
  count: number,
): PolicySteps {
  const last = count - 1;
  const [surprises, entropies] = [numbersOf(packed.surprises), numbersOf(packed.entropies)];
  const words = numbersOf(packed.words);
  const perStep = entropies.length / count;
  const wordsPerStep = words.length / count;
  // What the model wrote stands node after node; `at` is where each token of the tree stands there.
  const at = new Int32Array(tree.tokens.length).fill(-1);
  let next = 0;
  for (const { kind, start, length } of tree.nodes)
    if (kind === "model") for (let t = 0; t < length; t++) at[start + t] = next++;
  const between = (values: Float32Array, size: number, place: number, step: number) => {
    const below = Math.min(last, Math.floor(step));
    const above = Math.min(last, below + 1);
    const [from, to] = [values[below * size + place]!, values[above * size + place]!];
    return step === below ? from : from + (to - from) * (step - below);
  };
  const own = { entropies: tree.entropies.slice(), surprises: tree.surprises.slice() };
  const tokensAt = (known: Float32Array, values: Float32Array, step: number) => {
    const now = known.slice();
    at.forEach((place, token) => {
      if (place >= 0) now[token] = between(values, perStep, place, step);
    });
    return now;
  };
  let first = 0;
  const firsts = cards.map(({ words: all }) => (first += all.length) - all.length);
  return {
    ...{ last, all: entropies },
    entropiesAt: (step) => tokensAt(own.entropies, entropies, step),
    surprisesAt: (step) => tokensAt(own.surprises, surprises, step),
    chance: (card, word, step) =>
      Math.exp(-between(words, wordsPerStep, firsts[card]! + word, step)),
    logRatiosAt: (step) =>
      Float64Array.from(paths, (path) => {
        let sum = 0;
        for (const id of path) {
          const { start, length } = tree.nodes[id]!;
          for (let token = start; token < start + length; token++) {
            const place = at[token]!;
            if (place < 0) continue;
            const change = surprises[place]! - between(surprises, perStep, place, step);
            // A token without a log-probability says nothing.
            if (!Number.isNaN(change)) sum += change;
          }
        }
        return sum;
      }),
  };
}
