import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { type Chain, signalOf, storedChains } from "../../rollout/expand/path-tokens.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { pathOf } from "../../rollout/tree/tree-data.js";

/** A token and the text around it, where tokens can be told. */
export interface ReadToken {
  before: string;
  token: string;
  after: string;
  /** What is known of the token. */
  numbers: [name: string, value: number][];
}

/** What a view asks of a tree's trajectories. */
export interface TrajectoryReader {
  trajectory(trajectory: number): {
    shared: number;
    length: number;
    results: [from: number, to: number][];
  };
  /** A token of a trajectory, by its place in the response, with what is known of it. */
  around(trajectory: number, place: number): ReadToken;
  /** The mean entropy along the trajectories, each token once; null where nothing was drawn. */
  profile(parts: number, longest: number): (number | null)[];
}

/** Tokens of context on either side. */
const context = 24;

const signals = [
  ["entropy", "entropy"],
  ["entropy of the ten most likely", "top-entropy"],
  ["-ln p", "surprisal"],
] as const;

/** Reads each trajectory once. */
export function trajectoryReader(
  tree: RolloutTree,
  tokenizer: Tokenizer | undefined,
): TrajectoryReader {
  const chains = storedChains(tree);
  const known = new Map<number, ReturnType<typeof readTrajectory>>();
  const read = (trajectory: number) => {
    const found = known.get(trajectory) ?? readTrajectory(tree, chains[trajectory]!);
    known.set(trajectory, found);
    return found;
  };
  return {
    trajectory: (trajectory) => {
      const { split, length } = chains[trajectory]!;
      const results: [from: number, to: number][] = [];
      let at = 0;
      for (const { kind, tokens } of pathOf(tree, tree.trajectories[trajectory]!.leaf)) {
        if (kind === "tool" && tokens.length > 0) results.push([at, at + tokens.length]);
        at += tokens.length;
      }
      return { shared: split, length, results };
    },
    around: (trajectory, place) => {
      const { ids, values, results } = read(trajectory);
      const told = (from: number, to: number) => {
        const some = ids.slice(Math.max(0, from), Math.max(0, to));
        return tokenizer ? tokenizer.decode(some) : some.join(" ");
      };
      const since = place - Math.max(0, ...results.filter((end) => end <= place));
      const numbers: [string, number][] = signals.flatMap(([name], i) => {
        const value = values[i]![place];
        return value === undefined || Number.isNaN(value) ? [] : [[name, value]];
      });
      numbers.push([
        results.some((end) => end <= place)
          ? "tokens since the last result"
          : "tokens since the prompt",
        since,
      ]);
      return {
        before: told(place - context, place),
        token: told(place, place + 1),
        after: told(place + 1, place + 1 + context),
        numbers,
      };
    },
    profile: (parts, longest) => {
      const sums = new Float64Array(parts);
      const counts = new Uint32Array(parts);
      for (const chain of chains) {
        const values = signalOf(chain, "entropy", chain.split);
        values.forEach((value, t) => {
          if (Number.isNaN(value)) return;
          const part = Math.min(parts - 1, Math.floor(((chain.split + t) / longest) * parts));
          sums[part]! += value;
          counts[part]!++;
        });
      }
      return Array.from(sums, (sum, part) => (counts[part]! > 0 ? sum / counts[part]! : null));
    },
  };
}

/** A trajectory's token ids, signals and the ends of its results, from the prompt on. */
function readTrajectory(tree: RolloutTree, chain: Chain) {
  const path = pathOf(tree, tree.trajectories[chain.id]!.leaf);
  const ids = path.flatMap(({ tokens }) => [...tokens]);
  const whole = { ...chain, start: 0, nodes: path };
  const values = signals.map(([, signal]) => signalOf(whole, signal));
  const results: number[] = [];
  let at = 0;
  for (const { kind, tokens } of path) {
    at += tokens.length;
    if (kind === "tool") results.push(at);
  }
  return { ids, values, results };
}
