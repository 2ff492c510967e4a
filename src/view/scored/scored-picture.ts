import type { Scored } from "../../reward/scored.js";
import { stillSvg, svgPainter } from "../draw/svg-painter.js";
import { cut } from "../page/words.js";
import { figureTheme } from "../draw/figure-theme.js";

const [width, line, above] = [900, 22, 56];
/** Trajectories that a picture holds. */
const most = 64;

/** Scores as bars from one zero, with answers and reasons, as one picture. */
export function scoredPicture({ trajectories: rows }: Scored, title: string): string {
  const theme = figureTheme();
  const painter = svgPainter();
  const shown = rows.slice(0, most);
  const height = above + shown.length * line + (rows.length > most ? line : 0) + 10;
  const oneTask = new Set(rows.map(({ group }) => group)).size === 1;
  const [from, room] = [oneTask ? 100 : 220, 130];
  const values = shown.map(({ score }) => score.score);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const x = (value: number) => from + (high > low ? ((value - low) / (high - low)) * room : 0);
  const faint = { size: 11, fill: theme.ink2 };
  const after = from + room + 60;
  painter.rect(0, 0, width, height, { fill: theme.paper });
  painter.text(12, 16, cut(title, 120), { size: 14, weight: 650, fill: theme.ink });
  const head = above - 14;
  if (!oneTask) painter.text(12, head, "task", faint);
  painter.text(from - 12, head, "trajectory", { ...faint, align: "right" });
  painter.text(from, head, "score", faint);
  painter.text(after, head, "answer", faint);
  painter.text(after + 110, head, "reason", faint);
  shown.forEach(({ trajectory, group, score }, i) => {
    const y = above + i * line + line / 2;
    const look = { size: 11.5, fill: theme.ink };
    const [a, b] = [x(0), x(score.score)];
    if (!oneTask) painter.text(12, y, cut(group, 18), { ...look, fill: theme.ink2 });
    painter.text(from - 12, y, String(trajectory.id), { ...look, align: "right" });
    painter.rect(Math.min(a, b), y - 6, Math.max(1, Math.abs(b - a)), 12, {
      ...{ fill: score.score < 0 ? theme.wrong : theme.right, round: 2 },
    });
    painter.text(after - 12, y, score.score.toFixed(2), { ...look, align: "right" });
    painter.text(after, y, cut(score.answer ?? "–", 16), look);
    painter.text(after + 110, y, cut(score.reason.split("\n")[0]!, 70), {
      ...look,
      fill: theme.ink2,
    });
  });
  painter.path(`M${x(0)} ${above}V${above + shown.length * line}`, { stroke: theme.lineStrong });
  if (rows.length > most) {
    painter.text(12, height - 14, `${rows.length - most} more trajectories`, faint);
  }
  return stillSvg({ ...{ width, height, title, words: title, parts: painter.parts } });
}
