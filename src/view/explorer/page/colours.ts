import type { PageTree } from "./unpack.js";

export type Quantity = "entropy" | "probability" | "reward" | "advantage";

/** The two ramps of light and of dark pages. */
export interface PageColours {
  light: { sequential: readonly string[]; diverging: readonly string[] };
  dark: { sequential: readonly string[]; diverging: readonly string[] };
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

/** A ramp of colours from a lowest to a highest value; grey for NaN. */
export function colourRamp(
  stops: readonly string[],
  low: number,
  high: number,
): (value: number) => string {
  const steps = 64;
  const rgb = stops.map((s) => [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16)));
  const ramp = Array.from({ length: steps }, (_, i) => {
    const place = (i / (steps - 1)) * (rgb.length - 1);
    const from = Math.min(rgb.length - 2, Math.floor(place));
    const mixed = [0, 1, 2].map((c) =>
      Math.round(rgb[from]![c]! + (rgb[from + 1]![c]! - rgb[from]![c]!) * (place - from)),
    );
    return `rgb(${mixed.join(",")})`;
  });
  const level = (v: number) => Math.round(((v - low) / (high - low)) * (steps - 1));
  return (v) =>
    Number.isNaN(v) ? "rgba(128,128,128,.18)" : ramp[Math.max(0, Math.min(steps - 1, level(v)))]!;
}

/** The colouring of a quantity. */
export function colouringOf(
  tree: PageTree,
  quantity: Quantity,
  ramps: PageColours["light"],
): Colouring {
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
