import { escapeHtml } from "../../../../../picture/escape.js";
import { questionOf } from "../tree/question.js";
import { drawLegend } from "./draw-legend.js";
import { drawTree } from "./draw-tree.js";
import type { Painter } from "./painter.js";
import type { Scene } from "./scene.js";
import { svgPainter } from "./svg-painter.js";
import { fitted } from "./text-width.js";
import { mono, sans } from "./theme.js";

const above = 46;

/** The question, what is in view of a tree, and the legend, with any painter; gives the size. */
export function drawWhole(
  scene: Scene,
  summary: string,
  painter: Painter,
  drawBelow: (top: number, draw: (painter: Painter) => void) => void,
): { width: number; height: number } {
  const { theme, facts } = scene;
  const { width, height } = scene.view;
  const title = questionOf(facts.tree.prompt);
  painter.rect(0, 0, width, above + height + 120, { fill: theme.paper });
  painter.text(12, 16, fitted(title, width - 24, `650 15px ${sans}`), {
    ...{ size: 15, weight: 650, fill: theme.ink },
  });
  painter.text(12, 35, fitted(summary, width - 24, `400 11px ${sans}`), {
    ...{ size: 11, fill: theme.ink2 },
  });
  drawBelow(above, (inner) => drawTree(inner, scene));
  return { width, height: above + height + drawLegend(scene, painter, width, above + height) };
}

/** The same as SVG, alone in its file. */
export function wholeSvg(scene: Scene, summary: string, style = ""): string {
  const painter = svgPainter("frame");
  const inner = svgPainter("tree");
  const { width, height } = drawWhole(scene, summary, painter, (top, draw) => {
    draw(inner);
    painter.parts.push(`<g transform="translate(0 ${top})">${inner.parts.join("")}</g>`);
  });
  const [wide, tall] = [Math.round(width), Math.round(height)];
  const title = escapeHtml(`Rollout tree: ${questionOf(scene.facts.tree.prompt)}`);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" ` +
    `${style && `style="${style}" `}font-family='${sans}' role="img"><title>${title}</title><desc>${escapeHtml(summary)}</desc>` +
    `<style>.mono{font-family:${mono}}</style>${painter.parts.join("")}</svg>`
  );
}
