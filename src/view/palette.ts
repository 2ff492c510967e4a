import { oneOf } from "../arguments/check-options.js";
/** The readers a figure can be made for. `auto` suits light and dark pages alike. */
export type Theme = "auto" | "light" | "dark" | "colour-blind";

/** The colours of a theme. */
export interface Palette {
  /** One colour per series, in order. */
  series: readonly string[];
  /** Low to high, for quantities of one sign. */
  sequential: readonly string[];
  /** Negative, zero, positive. */
  diverging: readonly string[];
  /** Text and lines; undefined leaves them to the page. */
  ink?: string;
  paper?: string;
}

// Every theme's series stay apart under protanopia, deuteranopia and tritanopia, as palette.test.ts
// measures; "colour-blind" are the well-known colours of Okabe and Ito. The ramps of all themes differ in
// lightness, or run from blue to orange, which no common kind of colour blindness confuses.
const okabeIto = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#4d4d4d"];
const light = {
  sequential: ["#f7f7f2", "#fddcae", "#fca866", "#ea7430"],
  diverging: ["#4d9bd0", "#aed3ea", "#f7f7f2", "#fdc497", "#ea7430"],
};
const dark = {
  sequential: ["#2a2c30", "#6d3d1a", "#b5571f"],
  diverging: ["#2a6b9c", "#2a2c30", "#b5571f"],
};

/** The colours of every figure and view, by theme: the one place where they are chosen. */
export const palettes: Readonly<Record<Theme, Palette>> = {
  auto: {
    series: ["#2281dc", "#eb7b2a", "#4bad7b", "#b34562", "#806b9e", "#987748", "#a0a0a0"],
    ...light,
  },
  light: {
    series: ["#0074cd", "#dd6617", "#278359", "#b6417d", "#5f3d97", "#7a5c2b", "#595a57"],
    ...light,
    ink: "#222222",
    paper: "#ffffff",
  },
  dark: {
    series: ["#59b2fa", "#fc9b51", "#54dea4", "#eeabc9", "#a491bd", "#b39874", "#7b7b7b"],
    ...dark,
    ink: "#e6e6e6",
    paper: "#17191c",
  },
  "colour-blind": { series: okabeIto, ...light, ink: "#222222", paper: "#ffffff" },
};

export const themeRule = oneOf(Object.keys(palettes));
