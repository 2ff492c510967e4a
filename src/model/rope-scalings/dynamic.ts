import { defineRopeScaling, factorRule } from "./definition.js";

/** A base that grows with sequences longer than the context, which are refused here: within it nothing changes. */
export interface DynamicScaling {
  type: "dynamic";
  factor: number;
}

export const dynamic = defineRopeScaling<DynamicScaling>({
  name: "dynamic",
  words: "as it is within the context",
  read: ({ number }) => ({ type: "dynamic", factor: number("factor") }),
  write: ({ factor }) => ({ factor }),
  rules: ({ factor }) => [factorRule(factor)],
  frequencies: (plain) => plain,
  gguf: () => ({}),
});
