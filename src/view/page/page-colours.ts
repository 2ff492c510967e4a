import type { Palette } from "../../../common/picture/palette.js";

/** The colours of light and of dark pages. */
export interface PageColours {
  light: Palette;
  dark: Palette;
}

/** Whether the page writes in a light colour, and its ground is dark therefore. */
function isDark(root: Element): boolean {
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(root).color.match(/[\d.]+/g) ?? []).map(
    Number,
  );
  return 0.3 * red + 0.59 * green + 0.11 * blue > 140;
}

/** The colours that suit the page; the view is marked with what they were chosen for. */
export function coloursOf(root: HTMLElement, colours: PageColours): Palette {
  const theme = isDark(root) ? "dark" : "light";
  root.dataset["theme"] = theme;
  return colours[theme];
}
