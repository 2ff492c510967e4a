import { colourRamp } from "../../page/colour-ramp.js";
import type { Palette } from "../../palette.js";
import type { PageTree } from "./unpack-tree.js";

export type Quantity = "entropy" | "probability" | "reward" | "advantage";

/** What is known of a tree's tokens, the first of it to begin with. */
export function quantitiesOf(tree: PageTree): Quantity[] {
  const known = (values: Float32Array) => values.some((value) => !Number.isNaN(value));
  const quantities: Quantity[] = [
    ...(known(tree.entropies) ? (["entropy"] as const) : []),
    ...(known(tree.surprises) ? (["probability"] as const) : []),
    ...(tree.nodes.some((node) => node.reward != null) ? (["reward"] as const) : []),
    ...(tree.advantages ? (["advantage"] as const) : []),
  ];
  return quantities.length > 0 ? quantities : ["entropy"];
}

/** How a quantity is coloured: `at(token, node)` is a CSS colour. */
export interface Colouring {
  low: number;
  high: number;
  value: (token: number, node: number) => number;
  colour: (value: number) => string;
  /** Which of several values under one pixel stands for them. */
  gather: "max" | "min" | "mean";
}

/** The colouring of a quantity. */
export function colouringOf(tree: PageTree, quantity: Quantity, ramps: Palette): Colouring {
  const value = {
    entropy: (token: number) => tree.entropies[token]!,
    probability: (token: number) => Math.exp(-tree.surprises[token]!),
    advantage: (token: number) => tree.advantages?.[token] ?? NaN,
    reward: (_: number, node: number) => tree.nodes[node]!.reward ?? NaN,
  }[quantity];
  let [low, high] = quantity === "probability" ? [0, 1] : [0, 1e-9];
  if (quantity !== "probability") {
    tree.nodes.forEach(({ start, length }, node) => {
      const count = quantity === "reward" ? Math.min(1, length) : length;
      for (let i = start; i < start + count; i++) {
        const v = value(i, node);
        if (v < low) low = v;
        if (v > high) high = v;
      }
    });
  }
  const signed = low < 0;
  if (signed) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  const colour = colourRamp(signed ? ramps.diverging : ramps.sequential, low, high);
  const gather = quantity === "entropy" ? "max" : quantity === "probability" ? "min" : "mean";
  return { low, high, value, colour, gather };
}
