/** The readers a figure can be made for. `auto` suits light and dark pages alike. */
export type Theme = "auto" | "light" | "dark" | "colour-blind";

/** The colours of a theme. */
export interface Palette {
  /** One colour per series, in order. */
  series: readonly string[];
  /** Low to high, for quantities of one sign. */
  sequential: readonly string[];
  /** Negative, zero, positive: what is discouraged, and what is encouraged; text stands on all of them. */
  diverging: readonly string[];
  /** Little to much entropy. */
  entropy: readonly string[];
  /** What is right or has worked, and what is wrong or has failed. */
  right: string;
  wrong: string;
  /** Branches, paths, and what is selected. */
  structure: string;
  /** Text and lines; undefined leaves them to the page. */
  ink?: string;
  paper?: string;
}

/** Colours by what they are for; every view reads them as custom properties of CSS. */
export const designTokens = {
  light: {
    ...{ paper: "#ffffff", surface: "#f5f6f8", "surface-2": "#eaecf0", raised: "#ffffff" },
    ...{ ink: "#15181e", "ink-2": "#4b5361", "ink-3": "#646c7a" },
    ...{ line: "#d9dde4", "line-strong": "#868e9c" },
    // Blue is for structure alone: branches, paths, what is selected, what the user changed.
    ...{ accent: "#1f56c5", "accent-ink": "#ffffff", "accent-soft": "#e9f0fd" },
    ...{ right: "#0a6e60", "right-soft": "#dff2ee", wrong: "#a33a1c", "wrong-soft": "#fbe9e3" },
    ...{ tool: "#24506b", "tool-soft": "#e4eff5", "tool-line": "#9dbdce", track: "#f5f2ec" },
    // What a reader must know before anything else.
    notice: "#b3005e",
  },
  dark: {
    ...{ paper: "#12151b", surface: "#1b1f27", "surface-2": "#272c37", raised: "#20252e" },
    ...{ ink: "#eceff4", "ink-2": "#b4bcc9", "ink-3": "#929baa" },
    ...{ line: "#333a47", "line-strong": "#6f7888" },
    ...{ accent: "#8fb6ff", "accent-ink": "#0d1420", "accent-soft": "#1c2a44" },
    ...{ right: "#4fd1b8", "right-soft": "#15332f", wrong: "#ff9d7c", "wrong-soft": "#3b221a" },
    ...{ tool: "#b9dcee", "tool-soft": "#1d3340", "tool-line": "#3f6479", track: "#1f212b" },
    notice: "#ff7ab8",
  },
} as const;

/** Little to much entropy: warm, in even steps of lightness, more of it always more contrast. */
export const entropyRamps = {
  light: [
    ...["#f0dcb1", "#eac389", "#e5a762", "#e18a3b", "#d96b1f", "#cf4912"],
    ...["#c21a19", "#a50137", "#830143", "#600050", "#3d0250"],
  ],
  dark: [
    ...["#4f3b71", "#713f80", "#974084", "#be407b", "#da4d70", "#f35e5f"],
    ...["#fe7c56", "#ff9d61", "#ffbb77", "#fed68b", "#fef1a1"],
  ],
} as const;

/** The ground of a page that a view is saved as, and of the text on it. */
export const pageGround = {
  light: { paper: "#ffffff", ink: "#222222" },
  dark: { paper: "#17191c", ink: "#e6e6e6" },
} as const;

// Every theme's series stay apart under protanopia, deuteranopia and tritanopia, as palette.test.ts
// measures; "colour-blind" are the well-known colours of Okabe and Ito. The ramps of all themes differ in
// lightness, or run from rust to teal, the colours of wrong and right, which stay apart in every kind of sight.
const okabeIto = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#4d4d4d"];
const light = {
  sequential: ["#f7f7f2", "#fddcae", "#fca866", "#ea7430"],
  diverging: ["#f0875a", "#f9cbb2", "#f7f7f2", "#b3e0dd", "#38aeb0"],
  entropy: entropyRamps.light,
};
const dark = {
  sequential: ["#2a2c30", "#6d3d1a", "#9e4a19"],
  diverging: ["#a0410f", "#2a2c30", "#00706e"],
  entropy: entropyRamps.dark,
};
/** What the design tokens of a page's theme say of a figure's meanings. */
const meanings = ({ right, wrong, accent }: (typeof designTokens)["light" | "dark"]) => ({
  ...{ right, wrong, structure: accent },
});

/** The colours of every figure and view, by theme: the one place where they are chosen. */
export const palettes: Readonly<Record<Theme, Palette>> = {
  auto: {
    series: ["#2281dc", "#eb7b2a", "#4bad7b", "#b34562", "#806b9e", "#987748", "#a0a0a0"],
    ...light,
    // Between the colours of light and of dark pages.
    ...{ right: "#1f9583", wrong: "#d0603c", structure: "#2281dc" },
  },
  light: {
    series: ["#0074cd", "#dd6617", "#278359", "#b6417d", "#5f3d97", "#7a5c2b", "#595a57"],
    ...light,
    ...meanings(designTokens.light),
    ...pageGround.light,
  },
  dark: {
    series: ["#59b2fa", "#fc9b51", "#54dea4", "#eeabc9", "#a491bd", "#b39874", "#7b7b7b"],
    ...dark,
    ...meanings(designTokens.dark),
    ...pageGround.dark,
  },
  "colour-blind": {
    ...{ series: okabeIto, ...light, ...meanings(designTokens.light), ...pageGround.light },
    ...{ right: "#009e73", wrong: "#d55e00", structure: "#0072b2" },
  },
};

/** Colours by name as custom properties of a style sheet. */
export const properties = (colours: Readonly<Record<string, string>>): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(";");

/** The rules that give what a selector matches the colours of its page: the system's, JupyterLab's or VS Code's. */
export function rulesOfPage(
  selector: string,
  colours: (theme: "light" | "dark") => string,
): string {
  const within = (...hosts: string[]) => hosts.map((host) => `${host} ${selector}`).join(",");
  const [light, dark] = [`{${colours("light")}}`, `{${colours("dark")}}`];
  return (
    `${selector}${light}@media (prefers-color-scheme:dark){${selector}${dark}}` +
    `${within("[data-jp-theme-light=true]", ".vscode-light")}${light}` +
    `${within("[data-jp-theme-light=false]", ".vscode-dark")}${dark}`
  );
}
