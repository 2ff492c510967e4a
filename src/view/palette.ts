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

// Okabe and Ito's eight, which stay apart for every kind of colour vision. The ramps of all themes
// differ in lightness, or run from blue to orange, which no common kind of colour blindness confuses.
const okabeIto = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#999999"];
const light = {
  sequential: ["#f7f7f2", "#fddcae", "#fca866", "#ea7430"],
  diverging: ["#4d9bd0", "#aed3ea", "#f7f7f2", "#fdc497", "#ea7430"],
};
const dark = {
  sequential: ["#2a2c30", "#6d3d1a", "#b5571f"],
  diverging: ["#2a6b9c", "#2a2c30", "#b5571f"],
};

/**
 * The colours of every figure and view, by theme: the one place where they are chosen.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { palettes } from "arpo-lab/view";
 *
 * assert.equal(palettes["colour-blind"].series[0], "#0072b2");
 * ```
 */
export const palettes: Readonly<Record<Theme, Palette>> = {
  auto: {
    series: ["#3b82c4", "#e07b39", "#2f9e6e", "#c94f6d", "#8a6fc0", "#9a7b4f", "#7f7f7f"],
    ...light,
  },
  light: {
    series: ["#1f6fb4", "#d9661f", "#22845a", "#b83a5b", "#7653b3", "#7d5f33", "#666666"],
    ...light,
    ink: "#222222",
    paper: "#ffffff",
  },
  dark: {
    series: ["#6cb2eb", "#f2a065", "#5cc99a", "#ee8aa4", "#b9a3ea", "#cdb083", "#aaaaaa"],
    ...dark,
    ink: "#e6e6e6",
    paper: "#17191c",
  },
  "colour-blind": { series: okabeIto, ...light, ink: "#222222", paper: "#ffffff" },
};
