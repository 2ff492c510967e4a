import { escapeHtml } from "../../../common/picture/escape.js";
import { neutral } from "../../../common/picture/grey.js";
import { palettes, type Theme } from "../../../common/picture/palette.js";
import { sans } from "./theme.js";
import { textWidth } from "./text-width.js";
import { constantWords, type CurvePanel, drawPanel } from "./draw-panel.js";

/** Panels of curves, with whose curves they are. */
export interface Panels {
  title: string;
  /** Stands behind the runs' names. */
  state?: string;
  runs: readonly { name: string }[];
  /** First and last step of all runs. */
  from: number;
  to: number;
  panels: readonly CurvePanel[];
  /** Lines below the panels. */
  below?: readonly string[];
}

/** How large the panels are, and how many stand beside each other. */
export interface PanelsLook {
  theme?: Theme | undefined;
  columns: number;
  width: number;
  height: number;
  /** Of text and axes; otherwise the theme's. */
  ink?: string;
}

const head = 26;
/** What a legend below its panel's title takes, where it does not fit beside it. */
const below = 16;

/** Whether a panel's legend is longer than the room beside its title. */
function isLong({ title, labels }: CurvePanel, width: number): boolean {
  if (labels.length < 2) return false;
  const keys = labels.map((label) => textWidth(`● ${label}`, `11px ${sans}`) + 8);
  return keys.reduce((sum, key) => sum + key, textWidth(title, `600 13px ${sans}`)) > width - 20;
}

/** Lines of a text for a place so wide, of letters of about such a width. */
function linesOf(text: string, width: number, letter: number): string[] {
  const most = Math.floor((width - 20) / letter);
  return text.match(new RegExp(`\\S.{0,${most - 1}}(?=\\s|$)|\\S+`, "g")) ?? [];
}

/** Panels as one picture. Those without news, the same at every step, are a line of text. */
export function panelsPicture(given: Panels, look: PanelsLook): string {
  const { columns, width, height } = look;
  const { series, ink: own = neutral, paper } = palettes[look.theme ?? "auto"];
  const { ink = own } = look;
  const oneRun = given.runs.length === 1;
  const view = {
    ...{ width, height, from: given.from, to: given.to, colours: series, ink, oneRun },
    ...{ smoothing: 0, hidden: [] },
  };
  const names = given.runs.map(({ name }, i) => {
    const colour = series[i % series.length]!;
    const key = oneRun ? "" : `<tspan fill="${colour}">${"●■◆▲▼"[i % 5]} </tspan>`;
    return `${key}<tspan>${escapeHtml(name)}  </tspan>`;
  });
  const flat = given.panels.flatMap((panel) => constantWords(panel) ?? []);
  const drawn = given.panels.filter((panel) => constantWords(panel) === undefined);
  const heads = Array.from({ length: Math.ceil(drawn.length / columns) }, (_, row) =>
    drawn.slice(row * columns, (row + 1) * columns).some((panel) => isLong(panel, width))
      ? head + below
      : head,
  );
  const wide = columns * width;
  const titles = linesOf(given.title, wide, 8.5);
  // Names that have no room beside the title have a line of their own.
  const beside = given.runs.reduce(
    (sum, { name }) => sum + name.length * 7 + 24,
    (titles.at(-1) ?? "").length * 8.5,
  );
  const isBelow = beside > wide;
  const top = 30 + 18 * (titles.length - 1 + (isBelow ? 1 : 0));
  const topOf = (row: number) =>
    heads.slice(0, row).reduce((sum, above) => sum + height + above, top);
  const end = topOf(heads.length);
  const said = [
    ...(flat.length > 0 ? [`The same at every step: ${flat.join(" · ")}`] : []),
    ...(given.below ?? []),
  ].flatMap((text) => linesOf(text, wide, 6));
  const tall = end + (said.length > 0 ? 8 + 16 * said.length : 0);
  const same = said.map(
    (text, i) =>
      `<text x="10" y="${end + 14 + 16 * i}" font-size="11.5" fill="${ink}">${escapeHtml(text)}</text>`,
  );
  const panels = drawn.map((panel, i) => {
    const row = Math.floor(i / columns);
    const [x, y] = [(i % columns) * width, topOf(row)];
    const long = isLong(panel, width);
    const [size, apart] = long ? [10, 5] : [11, 8];
    const keys =
      panel.labels.length < 2
        ? []
        : panel.labels.map((label, l) => {
            const colour = oneRun ? series[l % series.length]! : ink;
            const place = long && l === 0 ? `x="10" y="${16 + below}"` : `dx="${apart}"`;
            return `<tspan ${place} font-size="${size}" fill="${colour}">● </tspan><tspan font-weight="400" font-size="${size}">${escapeHtml(label)}</tspan>`;
          });
    const title = panel.title === given.title ? "" : escapeHtml(panel.title);
    return (
      `<g transform="translate(${x} ${y})"><text x="10" y="16" font-weight="600" fill="${ink}">${title}${keys.join("")}</text>` +
      `<g transform="translate(0 ${heads[row]})">${drawPanel(panel, view)}</g></g>`
    );
  });
  const ground =
    paper === undefined ? "" : `<rect width="${wide}" height="${tall}" fill="${paper}"/>`;
  const runs = `<tspan font-size="12"${isBelow ? ` x="10" dy="18"` : ""}>${names.join("")}${escapeHtml(given.state ?? "")}</tspan>`;
  const title = titles.map(
    (line, i) => `<tspan${i > 0 ? ` x="10" dy="18"` : ""}>${escapeHtml(line)} </tspan>`,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${tall}" width="${wide}" height="${tall}" style="max-width:100%;height:auto" ` +
    `font-family="system-ui,sans-serif" font-size="13" role="img" aria-label="${escapeHtml(given.title)}">${ground}` +
    `<text x="10" y="20" font-size="15" font-weight="600" fill="${ink}">${title.join("")}${runs}</text>` +
    `${panels.join("")}${same.join("")}</svg>`
  );
}
