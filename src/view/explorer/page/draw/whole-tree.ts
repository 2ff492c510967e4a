import { questionOf } from "../tree/header-words.js";
import { drawLegend } from "./draw-legend.js";
import { drawTree } from "./draw-tree.js";
import type { Painter } from "../../../draw/painter.js";
import type { Scene } from "./scene.js";
import { stillSvg, svgPainter } from "../../../draw/svg-painter.js";
import { fitted } from "../../../draw/text-width.js";
import { sans } from "../../../draw/theme.js";

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
export function wholeSvg(scene: Scene, summary: string): string {
  const painter = svgPainter("frame");
  const inner = svgPainter("tree");
  const { parts } = painter;
  const size = drawWhole(scene, summary, painter, (top, draw) => {
    draw(inner);
    parts.push(`<g transform="translate(0 ${top})">${inner.parts.join("")}</g>`);
  });
  const title = `Rollout tree: ${questionOf(scene.facts.tree.prompt)}`;
  return stillSvg({ ...size, title, words: summary, parts });
}
