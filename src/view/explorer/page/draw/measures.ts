import { signed, two } from "../../../page/words.js";
import type { PageTree } from "../tree/unpack-tree.js";

type ValueOf = (token: number, node: number) => number;

/** A quantity above and below 0. */
interface SignedQuantity {
  /** What the legend calls it. */
  label: string;
  /** What it is; nothing where the tree does not carry it. */
  of: (tree: PageTree) => ValueOf | undefined;
  /** What its two sides mean. */
  sides: readonly [above: string, below: string];
}

const ofTokens = (values?: Float32Array): ValueOf | undefined => values && ((t) => values[t]!);

const signedQuantities: Record<"reward" | "advantage" | "gap", SignedQuantity> = {
  reward: {
    label: "mean score",
    of: ({ nodes }) =>
      nodes.some(({ reward }) => reward != null)
        ? (_, node) => nodes[node]!.reward ?? NaN
        : undefined,
    sides: ["above 0", "below 0"],
  },
  advantage: {
    label: "advantage",
    of: ({ advantages }) => ofTokens(advantages),
    sides: ["above 0: made more likely", "below 0: made less likely"],
  },
  gap: {
    label: "ln p of the teacher less that of the policy",
    of: ({ gaps }) => ofTokens(gaps),
    sides: ["above 0: more likely under the teacher", "below 0: less likely under the teacher"],
  },
};

const signedNames = Object.keys(signedQuantities) as (keyof typeof signedQuantities)[];

export type Quantity = "entropy" | "probability" | keyof typeof signedQuantities;

/** What a choice of quantities calls each. */
export const quantityNames: Record<Quantity, string> = {
  entropy: "Entropy",
  probability: "Probability",
  reward: "Score",
  advantage: "Advantage",
  gap: "Teacher gap",
};

export type Scale = "sqrt" | "linear" | "percentile";

/** What is known of a tree's tokens, the first of it to begin with. */
export function quantitiesOf(tree: PageTree): Quantity[] {
  const known = (values: Float32Array) => values.some((value) => !Number.isNaN(value));
  const quantities: Quantity[] = [
    ...(known(tree.entropies) ? (["entropy"] as const) : []),
    ...(known(tree.surprises) ? (["probability"] as const) : []),
    ...signedNames.filter((name) => signedQuantities[name].of(tree)),
  ];
  return quantities.length > 0 ? quantities : ["entropy"];
}

/** How tall and how dark a token is. */
export interface Measure {
  quantity: Quantity;
  /** What the legend calls it. */
  label: string;
  /** From the middle line, up or down: what the two sides mean. */
  sides?: SignedQuantity["sides"];
  /** From 0 to 1, or from -1 to 1 where signed; NaN for nothing known. */
  level: (token: number, node: number) => number;
  /** Which of several tokens under one pixel stands for them. */
  gather: "max" | "mean";
  ticks: [level: number, label: string][];
}

/** How a quantity is shown; `all` are the entropies that the scale has room for. */
export function measureOf(
  tree: PageTree,
  quantity: Quantity,
  scale: Scale,
  all = tree.entropies,
): Measure {
  if (quantity === "probability") {
    return {
      ...{ quantity, gather: "max", label: "1 − probability" },
      level: (token) => 1 - Math.exp(-tree.surprises[token]!),
      ticks: [0, 0.25, 0.5, 0.75, 1].map((x) => [x, String(x)]),
    };
  }
  if (quantity !== "entropy") {
    const { label, of, sides } = signedQuantities[quantity];
    const value = of(tree) ?? (() => NaN);
    const most = Math.max(1e-9, greatest(tree, value));
    return {
      ...{ quantity, gather: "mean", label, sides },
      level: (token, node) => value(token, node) / most,
      ticks: [
        [-1, signed(-most)],
        [0, "0"],
        [1, signed(most)],
      ],
    };
  }
  const positive = all.filter((x) => x > 0).sort();
  const most = Math.max(1, positive.at(-1) ?? 1);
  const level = entropyLevel(scale, most, positive);
  const marks = [0, 0.1, 0.5, 1, 2, 3, 4].filter((x) => x <= most);
  const names = { sqrt: " (√ scale)", linear: "", percentile: ", percentile" };
  return {
    ...{ quantity, gather: "max", label: `entropy, nats${names[scale]}` },
    level: (token) => level(tree.entropies[token]!),
    ticks:
      scale === "percentile"
        ? [0, 0.5, 1].map((x) => [x, `${100 * x}%`])
        : marks.map((x) => [level(x), String(Number(two(x)))]),
  };
}

/** How high an entropy stands on a scale. */
export function entropyLevel(
  scale: Scale,
  most: number,
  sorted: Float32Array,
): (x: number) => number {
  if (scale === "linear") return (x) => (x > 0 ? Math.min(1, x / most) : 0);
  if (scale === "sqrt") return (x) => (x > 0 ? Math.sqrt(Math.min(1, x / most)) : 0);
  return (x) => {
    if (!(x > 0)) return 0;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < x) low = middle + 1;
      else high = middle;
    }
    return sorted.length > 1 ? low / (sorted.length - 1) : 1;
  };
}

function greatest(tree: PageTree, value: ValueOf): number {
  let most = 0;
  tree.nodes.forEach(({ start, length }, node) => {
    for (let i = start; i < start + length; i++) {
      const size = Math.abs(value(i, node));
      if (size > most) most = size;
    }
  });
  return most;
}

/** The level of every token. */
export function levelsOf(tree: PageTree, measure: Measure): Float32Array {
  const levels = new Float32Array(tree.tokens.length).fill(NaN);
  tree.nodes.forEach(({ start, length, kind }, node) => {
    if (kind !== "model") return;
    for (let t = start; t < start + length; t++) levels[t] = measure.level(t, node);
  });
  return levels;
}

/** The levels of a node's bars, `count` of them. */
export function binsOf(
  { start, length }: { start: number; length: number },
  levels: Float32Array,
  gather: Measure["gather"],
  count: number,
): Float32Array {
  if (count === length) return levels.slice(start, start + length);
  const bins = new Float32Array(count);
  const per = length / count;
  for (let c = 0; c < count; c++) {
    const from = Math.floor(c * per);
    const to = Math.min(length, Math.max(from + 1, Math.floor((c + 1) * per)));
    let value = NaN;
    let known = 0;
    for (let t = start + from; t < start + to; t++) {
      const level = levels[t]!;
      if (Number.isNaN(level)) continue;
      known++;
      if (known === 1) value = level;
      else if (gather === "mean") value += (level - value) / known;
      else if (level > value) value = level;
    }
    bins[c] = value;
  }
  return bins;
}
