import { defineRopeScaling, factorRule } from "./definition.js";

/** Positions divided by a factor. */
export interface LinearScaling {
  type: "linear";
  factor: number;
}

export const linear = defineRopeScaling<LinearScaling>({
  name: "linear",
  words: "positions divided by a factor",
  read: ({ number }) => ({ type: "linear", factor: number("factor") }),
  write: ({ factor }) => ({ factor }),
  rules: ({ factor }) => [factorRule(factor)],
  frequencies: (plain, { factor }) => plain.map((frequency) => frequency / factor),
  gguf: ({ factor }) => ({ type: "linear", factor }),
});
