import { stillSvg } from "../draw/still-svg.js";
import { svgPainter } from "../draw/svg-painter.js";
import { cut } from "../explorer/page/tree/words.js";
import { figureTheme } from "../draw/figure-theme.js";

/** What an algorithm does with the tokens of a batch. */
export interface AlgorithmCounts {
  label: string;
  loss: string;
  dropped: number;
  kept: number;
}

const [width, line, above, from, room] = [720, 24, 60, 250, 260];

/** How many gradients each algorithm drops, and keeps beyond its bounds, as bars from one zero. */
export function countsPicture(
  title: string,
  trained: number,
  algorithms: readonly AlgorithmCounts[],
): string {
  const theme = figureTheme();
  const painter = svgPainter();
  const height = above + algorithms.length * line + 12;
  const most = Math.max(1, ...algorithms.map(({ dropped, kept }) => dropped + kept));
  const faint = { size: 11, fill: theme.ink2 };
  painter.rect(0, 0, width, height, { fill: theme.paper });
  painter.text(12, 16, title, { size: 14, weight: 650, fill: theme.ink });
  painter.text(from - 90, above - 16, "loss", faint);
  painter.rect(from, above - 21, 10, 10, { fill: theme.wrong });
  painter.text(from + 15, above - 16, "dropped", faint);
  painter.rect(from + 72, above - 21, 10, 10, { fill: theme.right });
  painter.text(from + 87, above - 16, `kept beyond the bounds, of ${trained} gradients`, faint);
  algorithms.forEach(({ label, loss, dropped, kept }, i) => {
    const y = above + i * line + line / 2;
    const look = { size: 11.5, fill: theme.ink };
    const [lost, held] = [dropped, kept].map((count) => (count / most) * room);
    painter.text(12, y, cut(label, 24), { ...look, weight: 600 });
    painter.text(from - 90, y, loss, look);
    painter.rect(from, y - 7, lost!, 14, { fill: theme.wrong });
    painter.rect(from + lost!, y - 7, held!, 14, { fill: theme.right });
    painter.text(from + lost! + held! + 8, y, `${dropped} dropped, ${kept} kept`, look);
  });
  painter.path(`M${from} ${above}V${above + algorithms.length * line}`, {
    stroke: theme.lineStrong,
  });
  const words = algorithms.map(
    ({ label, dropped, kept }) => `${label}: ${dropped} dropped, ${kept} kept`,
  );
  return stillSvg({ width, height, title, words: words.join("; "), parts: painter.parts });
}
