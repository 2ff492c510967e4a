import { escapeHtml } from "../../../picture/escape.js";
import { palettes, type Theme } from "../palette.js";
import { drawPanel } from "./page/draw-panel.js";
import type { BoardPayload } from "./payload.js";

const columns = 3;
const [width, height, head] = [330, 150, 26];

/** A board without its trees as one picture. */
export function boardPicture(payload: BoardPayload, theme: Theme = "auto"): string {
  const { series, ink = "#808080", paper } = palettes[theme];
  const oneRun = payload.runs.length === 1;
  const view = {
    ...{ width, height, from: payload.from, to: payload.to, colours: series, ink, oneRun },
    ...{ smoothing: 0, hidden: [] },
  };
  const names = payload.runs.map(({ name }, i) => {
    const colour = series[i % series.length]!;
    return `<tspan fill="${oneRun ? ink : colour}">${oneRun ? "" : "● "}${escapeHtml(name)}  </tspan>`;
  });
  const rows = Math.ceil(payload.panels.length / columns);
  const [wide, tall] = [columns * width, 30 + rows * (height + head)];
  const panels = payload.panels.map((panel, i) => {
    const [x, y] = [(i % columns) * width, 30 + Math.floor(i / columns) * (height + head)];
    const keys =
      panel.labels.length < 2
        ? []
        : panel.labels.map((label, l) => {
            const colour = oneRun ? series[l % series.length]! : ink;
            return `<tspan dx="8" font-weight="400" font-size="11" fill="${colour}">${escapeHtml(label)}</tspan>`;
          });
    return (
      `<g transform="translate(${x} ${y})"><text x="10" y="16" font-weight="600" fill="${ink}">${escapeHtml(panel.title)}${keys.join("")}</text>` +
      `<g transform="translate(0 ${head})">${drawPanel(panel, view)}</g></g>`
    );
  });
  const ground =
    paper === undefined ? "" : `<rect width="${wide}" height="${tall}" fill="${paper}"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${tall}" width="${wide}" height="${tall}" style="max-width:100%;height:auto" ` +
    `font-family="system-ui,sans-serif" font-size="13" role="img" aria-label="${escapeHtml(payload.title)}">${ground}` +
    `<text x="10" y="20" font-size="15" font-weight="600" fill="${ink}">${escapeHtml(payload.title)} <tspan font-size="12">${names.join("")}</tspan></text>` +
    `${panels.join("")}</svg>`
  );
}
