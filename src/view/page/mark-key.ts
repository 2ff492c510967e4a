import { element } from "./element.js";

/** A mark of tokens as a legend shows it, and what it means: one that a line has no room for begins the next. */
export const markKey = (name: "less" | "lost" | "kept", meaning: string): HTMLElement =>
  element(
    "span",
    { class: "arpo-mark-key" },
    element("span", { class: `arpo-${name}` }, words[name]),
    `: ${meaning}`,
  );

/** What each mark looks like; colour alone would not tell it. */
const words = { less: "dotted above", lost: "struck out", kept: "underlined" } as const;
