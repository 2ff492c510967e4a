import type { Lane } from "../layout/lane-order.js";
import { type Layout, ratioWidth } from "../layout/layout.js";
import { cut, signed } from "../../../page/words.js";
import type { Verdict } from "../../payload.js";
import type { Painter } from "../../../draw/painter.js";
import { isTold, type Scene } from "./scene.js";
import type { Theme } from "../../../draw/theme.js";

/** Where the columns at the right lie: answer, outcome, score, advantage. */
interface GutterColumns {
  answer?: number;
  mark: number;
  score?: { at: number; width: number };
  advantage: { at: number; width: number };
  advantageText?: number;
  /** A trajectory's probability now over that of before: the bar's middle, its reach, and the end of its text. */
  ratio?: { at: number; width: number; text: number };
}

const answerWidth = 62;

export function gutterColumns(
  { isPhone, isNarrow, gutter, hasRatios }: Layout,
  right: number,
): GutterColumns {
  if (isPhone) return { mark: right + 9, advantage: { at: right + 46, width: 22 } };
  const extra = hasRatios ? ratioWidth : 0;
  const advantageText = right + gutter - extra - 10;
  const ratio = hasRatios && {
    ratio: { at: right + gutter - extra + 22, width: 24, text: right + gutter - 10 },
  };
  if (gutter < 90) return { mark: right, advantage: { at: right, width: 0 } };
  if (isNarrow) {
    return {
      ...{ mark: right + 12, score: { at: right + 44, width: 16 }, advantageText },
      advantage: { at: right + 94, width: 22 },
      ...ratio,
    };
  }
  return {
    ...{ answer: right + 8, mark: right + 82, score: { at: right + 118, width: 22 } },
    ...{ advantage: { at: right + 176, width: 26 }, advantageText, ...ratio },
  };
}

/** Answers, outcomes, scores and advantages, each lane's in line with it. */
export function drawGutter(painter: Painter, scene: Scene, lanes: readonly Lane[]): void {
  const { facts, layout, theme, moment, view } = scene;
  const right = view.width - layout.gutter;
  painter.rect(right, layout.head, layout.gutter, view.height - layout.head, { fill: theme.paper });
  const columns = gutterColumns(layout, right);
  const hasScores = isTold(scene);
  const hasAdvantages =
    facts.advantages.some((each) => each !== undefined) &&
    (!moment || moment.at >= moment.advanced);
  const { trajectories } = facts.tree;
  const sizes = (list: readonly (number | null | undefined)[], least: number) =>
    list.reduce<number>((most, x) => Math.max(most, Math.abs(x ?? 0)), least);
  const mostScore = sizes(
    trajectories.map(({ score }) => score),
    1,
  );
  const mostAdvantage = sizes(facts.advantages, 0.1);
  const bar = (at: number, width: number, y: number, tall: number, fill: string, alpha: number) =>
    painter.rect(Math.min(at, at + width), y - tall / 2, Math.max(1.2, Math.abs(width)), tall, {
      ...{ fill, alpha, round: 1.5 },
    });
  for (const lane of lanes) {
    if (lane.trajectory < 0) continue;
    const { leaf, score } = trajectories[lane.trajectory]!;
    if (moment && leaf >= 0 && moment.at < moment.born[leaf]! + 1) continue;
    const y = scene.yOf(lane) - view.y + lane.height / 2;
    const alpha = lane.gone ? 0.25 : lane.dim ? 0.4 : 1;
    const verdict = facts.verdicts[lane.trajectory];
    const isRight = verdict === "right" && hasScores;
    const isSmall = lane.height < 16;
    if (columns.answer !== undefined && lane.height >= 12) {
      painter.text(
        columns.answer + answerWidth,
        y,
        cut(facts.answers[lane.trajectory]!, 10) || "–",
        {
          ...{ align: "right", size: isSmall ? 10 : 11.5, weight: isRight ? 650 : 400, alpha },
          fill: isRight ? theme.right : theme.ink2,
        },
      );
    }
    const tall = Math.min(11, lane.height * 0.5);
    if (hasScores && verdict) {
      drawVerdict(painter, theme, verdict, {
        ...{ x: columns.mark, y, size: Math.min(5, lane.height * 0.3), alpha },
      });
      if (columns.score) {
        const fill = score! > 0 ? theme.right : score! < 0 ? theme.wrong : theme.lineStrong;
        const width = (score! / mostScore) * columns.score.width;
        bar(columns.score.at, width, y, tall, fill, alpha);
      }
    }
    const now = scene.logRatios?.[lane.trajectory];
    if (columns.ratio && now !== undefined) {
      const { at, width, text } = columns.ratio;
      const share = Math.max(-1, Math.min(1, now / mostLogRatio));
      bar(at, share * width, y, tall, now >= 0 ? theme.right : theme.wrong, 0.75 * alpha);
      painter.text(text, y, timesText(now), { size: 11, align: "right", fill: theme.ink, alpha });
    }
    const advantage = facts.advantages[lane.trajectory];
    if (!hasAdvantages || advantage === undefined) continue;
    const fill = advantage >= 0 ? theme.right : theme.wrong;
    const width = (advantage / mostAdvantage) * columns.advantage.width;
    bar(columns.advantage.at, width, y, tall, fill, 0.9 * alpha);
    if (columns.advantageText === undefined || lane.height < 12) continue;
    painter.text(columns.advantageText, y, signed(advantage), {
      ...{ align: "right", size: isSmall ? 10 : 11, weight: 600, alpha },
      fill: advantage >= 0.05 ? theme.right : advantage <= -0.05 ? theme.wrong : theme.ink3,
    });
  }
  const bottom = Math.min(view.height, layout.totalHeight - view.y) - 4;
  if (columns.ratio && scene.logRatios) {
    painter.path(`M${columns.ratio.at} ${layout.head + 2}V${bottom}`, {
      stroke: theme.lineStrong,
    });
  }
  if (columns.score && hasScores) {
    const { at, width } = columns.score;
    painter.path(`M${at} ${layout.head + 2}V${bottom}`, { stroke: theme.line });
    painter.path(`M${at + (facts.mean! / mostScore) * width} ${layout.head}V${bottom}`, {
      ...{ stroke: theme.ink, width: 1.2, dash: [3, 3] },
    });
  }
  if (hasAdvantages) {
    painter.path(`M${columns.advantage.at} ${layout.head + 2}V${bottom}`, {
      stroke: theme.lineStrong,
    });
  }
}

/** Where the bar of a probability ratio ends: at a thousand. */
const mostLogRatio = Math.log(1000);

/** A factor in words, from its logarithm: ×3.4, ÷404. */
export function timesText(log: number): string {
  const times = Math.exp(Math.abs(log));
  return `${log >= 0 ? "×" : "÷"}${times < 10 ? times.toFixed(1) : Math.round(times).toLocaleString("en")}`;
}

/** Right is a tick, wrong a cross, an invalid format a ringed exclamation mark, no answer a broken line. */
export function drawVerdict(
  painter: Painter,
  theme: Theme,
  verdict: Verdict,
  { x, y, size, alpha }: { x: number; y: number; size: number; alpha: number },
): void {
  const s = size;
  if (verdict === "right") {
    painter.circle(x, y, s + 1.6, { fill: theme.right, alpha });
    painter.path(`M${x - s * 0.5} ${y}l${s * 0.38} ${s * 0.42}l${s * 0.66} ${-s * 0.84}`, {
      ...{ stroke: theme.paper, width: 1.6, alpha },
    });
  } else if (verdict === "wrong") {
    const arm = s * 0.62;
    painter.path(
      `M${x - arm} ${y - arm}l${2 * arm} ${2 * arm}M${x + arm} ${y - arm}l${-2 * arm} ${2 * arm}`,
      { stroke: theme.ink3, width: 1.6, alpha },
    );
  } else if (verdict === "unfinished") {
    painter.path(
      `M${x - s - 1} ${y}h${s * 0.7}M${x - s * 0.35} ${y}h${s * 0.7}M${x + s * 0.8} ${y - s}v${2 * s}`,
      {
        ...{ stroke: theme.ink3, width: 1.6, alpha },
      },
    );
  } else {
    painter.circle(x, y, s + 1, { stroke: theme.wrong, width: 1.4, alpha });
    painter.path(`M${x} ${y - s * 0.55}v${s * 0.55}M${x} ${y + s * 0.52}v.3`, {
      ...{ stroke: theme.wrong, width: 1.5, alpha },
    });
  }
}
