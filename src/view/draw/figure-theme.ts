import { type Theme, themeFrom } from "./theme.js";
import { designTokens, entropyRamps } from "../page/palette.js";

/** The colours of a picture that no style sheet reaches. */
export function figureTheme(name: "light" | "dark" = "light"): Theme {
  const colours: Record<string, string> = { ...designTokens[name] };
  entropyRamps[name].forEach((colour, i) => (colours[`h${i}`] = colour));
  return themeFrom((token) => colours[token]!);
}
