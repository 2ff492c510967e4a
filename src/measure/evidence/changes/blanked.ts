import type { ChangeDefinition } from "./definition.js";

export const blanked = {
  name: "blanked",
  said: "empty",
  change: ({ text }) => (text.trim() === "" ? undefined : ""),
} satisfies ChangeDefinition;
