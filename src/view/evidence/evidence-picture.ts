import type { Interval } from "../../eval/metrics/interval.js";
import type { ChangeName } from "../../measure/evidence/changes/registry.js";
import type { Evidence } from "../../measure/evidence/evidence.js";
import type { Verdict } from "../../measure/evidence/evidence-values.js";
import { figureTheme, pageTheme } from "../draw/figure-theme.js";
import type { Painter } from "../draw/painter.js";
import { stillSvg, svgPainter } from "../draw/svg-painter.js";
import { sans, type Theme } from "../draw/theme.js";
import { fitted } from "../draw/text-width.js";
import { many, percent } from "../page/words.js";

/** What each verdict says, in the table and in the picture. */
export const verdictWords: Readonly<Record<Verdict, string>> = {
  falls: "falls: the answer rests on it",
  stays: "stays: the answer does not rest on it",
  undecided: "undecided",
};

/** Results that a picture holds. */
const most = 12;
const [width, line, left, right] = [620, 20, 110, 232];

/** One line of the picture. */
interface Line {
  name: string;
  said: string;
  interval: Interval;
  verdict?: Verdict;
}

/** A share in few characters. */
export const shareText = (share: number): string => percent(share).replace(".0%", "%");

/** The share of forks that gave the same answer, with its interval: as it was, and with each change. A page has its title above. */
export function evidencePicture(evidence: Evidence, title: string, where: "page" | "file"): string {
  const theme = where === "page" ? pageTheme : figureTheme();
  const painter = svgPainter("evidence");
  const { results, totals, settings } = evidence;
  const shown = results.slice(0, most);
  const groups: { head: string; lines: Line[] }[] = [
    {
      head: `All ${many(results.length, "tool result")}`,
      lines: totals.map(({ change, survived, falls, stays, results: count }) => ({
        ...{ name: change, interval: survived },
        said: change === "kept" ? "" : `falls ${falls}, stays ${stays} of ${count}`,
      })),
    },
    ...shown.map(({ tag, input, answer, turn, kept, changed }) => ({
      head: `Turn ${turn + 1}, ${tag}(${input.trim().replace(/\s+/g, " ")}) → ${answer === "" ? "no answer" : answer}`,
      lines: [
        { name: "kept", said: "", interval: kept.survived },
        ...settings.changes.flatMap((name: ChangeName) => {
          const one = changed[name];
          return one
            ? [{ name, said: one.verdict, interval: one.survived, verdict: one.verdict }]
            : [];
        }),
      ],
    })),
  ];
  const above = where === "page" ? 50 : 74;
  const count = groups.reduce((sum, { lines }) => sum + lines.length + 1.8, 0);
  const height = above + count * line + (results.length > most ? line : 0) + 8;
  const x = (share: number) => left + share * (width - left - right);
  painter.rect(0, 0, width, height, { fill: theme.paper });
  if (where === "file")
    painter.text(12, 16, fitted(title, width - 24, `650 14px ${sans}`), {
      ...{ size: 14, weight: 650, fill: theme.ink },
    });
  const faint = { size: 11, fill: theme.ink2 };
  painter.text(
    12,
    above - 37,
    "Share of forks with the same answer; the line is the 95% interval",
    faint,
  );
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    painter.path(`M${x(share)} ${above - 8}V${height - 10}`, { stroke: theme.line });
    painter.text(x(share), above - 16, shareText(share), { ...faint, align: "center" });
  }
  let y = above;
  for (const { head, lines } of groups) {
    y += line * 0.8;
    painter.text(12, y, fitted(head, width - 24, `600 12px ${sans}`), {
      ...{ size: 12, weight: 600, fill: theme.ink },
    });
    y += line;
    for (const one of lines) {
      drawLine(painter, theme, one, { x, y });
      y += line;
    }
  }
  if (results.length > most)
    painter.text(12, y + 8, `${results.length - most} more results are left out here`, faint);
  const words = String(evidence);
  return stillSvg({ ...{ width, height, title, words, parts: painter.parts } });
}

/** A share with its interval: green where the answer falls with the result, rust where it stays, grey otherwise. */
function drawLine(
  painter: Painter,
  theme: Theme,
  { name, said, interval, verdict }: Line,
  { x, y }: { x: (share: number) => number; y: number },
): void {
  const { value, low, high } = interval;
  const colour = { falls: theme.right, stays: theme.wrong, undecided: theme.ink3 };
  const stroke = verdict === undefined ? theme.ink : colour[verdict];
  painter.text(left - 14, y, name === "kept" ? "as it was" : name, {
    ...{ size: 11.5, align: "right", fill: theme.ink2 },
  });
  if (!Number.isNaN(low)) {
    painter.path(`M${x(low)} ${y}H${x(high)}M${x(low)} ${y - 4}v8M${x(high)} ${y - 4}v8`, {
      ...{ stroke, width: 1.6 },
    });
  }
  // Marks differ in shape as well as in colour.
  if (verdict === "stays") painter.rect(x(value) - 4, y - 4, 8, 8, { fill: stroke });
  else if (verdict === "falls")
    painter.path(`M${x(value)} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z`, { fill: stroke });
  else if (verdict === "undecided")
    painter.circle(x(value), y, 4, { fill: theme.paper, stroke, width: 1.6 });
  else painter.circle(x(value), y, 4.5, { fill: stroke });
  const text = Number.isNaN(value) ? "–" : shareText(value);
  painter.text(width - right + 54, y, text, { size: 11.5, align: "right", fill: theme.ink });
  painter.text(width - right + 64, y, said, { size: 11.5, fill: verdict ? stroke : theme.ink2 });
}
