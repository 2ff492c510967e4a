import { figureTheme } from "../draw/figure-theme.js";
import { stillSvg, svgPainter } from "../draw/svg-painter.js";
import { sans } from "../draw/theme.js";
import { fitted } from "../draw/text-width.js";
import { drawLegend } from "../explorer/page/draw/draw-legend.js";
import { drawTree } from "../explorer/page/draw/draw-tree.js";
import { questionOf } from "../explorer/page/tree/header-words.js";
import type { LoopPayload } from "./payload.js";
import { drawFresh } from "./page/draw-fresh.js";
import { aboutWords, actWords } from "./page/loop-words.js";
import { loopScene, showLoop } from "./page/shown-loop.js";

const [width, above, curve] = [1000, 50, 64];

/** The loop as one picture: its tree as it was rolled out, what training made of each trajectory, and fresh tries. */
export function loopPicture(payload: LoopPayload): string {
  const loop = showLoop(payload);
  const theme = figureTheme();
  const { updates } = payload;
  const drawn = loopScene(
    loop,
    { at: loop.ends[2], step: 0, hasRatios: true },
    {
      ...{ width, maxHeight: 590, theme },
    },
  );
  const scene = { ...drawn, logRatios: loop.logRatiosAt(updates) };
  const { height } = scene.view;
  const frame = svgPainter("frame");
  const tree = svgPainter("tree");
  drawTree(tree, scene);
  const title = questionOf(loop.facts.tree.prompt);
  frame.rect(0, 0, width, above + height + 150 + curve, { fill: theme.paper });
  frame.text(12, 17, fitted(title, width - 24, `650 16px ${sans}`), {
    ...{ size: 16, weight: 650, fill: theme.ink },
  });
  const about = aboutWords(loop);
  frame.text(12, 38, about, { size: 12, fill: theme.ink2 });
  frame.parts.push(`<g transform="translate(0 ${above})">${tree.parts.join("")}</g>`);
  let y = above + height;
  y += drawLegend(scene, frame, width, y);
  const words = actWords(loop, 4, updates).join("");
  frame.text(12, y + 10, words, { size: 12.5, weight: 600, fill: theme.ink });
  const below = svgPainter("curve");
  drawFresh(below, theme, payload, { width: width - 24, height: curve, step: updates });
  frame.parts.push(`<g transform="translate(12 ${y + 22})">${below.parts.join("")}</g>`);
  return stillSvg({
    ...{ width, height: y + 30 + curve, title: `The loop: ${title}`, words: `${about} ${words}` },
    parts: frame.parts,
  });
}
