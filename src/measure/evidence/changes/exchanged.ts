import type { ChangeDefinition } from "./definition.js";

export const exchanged = {
  name: "exchanged",
  said: "what the same tool answered another trajectory",
  change: ({ others, random }) => (others.length === 0 ? undefined : random.choose(others)),
} satisfies ChangeDefinition;
