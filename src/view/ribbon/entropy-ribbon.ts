import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  listOf,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import type { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { figureTheme, pageColours, pageTheme } from "../draw/figure-theme.js";
import { wide } from "../page/table.js";
import { View } from "../page/view.js";
import { type RibbonRow, ribbonMeans, ribbonRows } from "./ribbon-rows.js";
import { type DecidedAt, peakOf, type RibbonDrawing, ribbonSvg } from "./ribbon-svg.js";

export interface EntropyRibbonOptions {
  /** Scores of the trajectories: lines are sorted by outcome. Default: none. */
  scored?: Scored;
  /**
   * What a token decides by its distance from the result: `branchValues(…).profile()`. Default:
   * none.
   */
  decided?: readonly DecidedAt[];
  /** In pixels, 96 an inch: 317 is a column of a paper, 672 two columns (default), 900 a slide. */
  width?: number;
  /** Tokens before the result. Default: what nine in ten trajectories have, at most 40. */
  before?: number;
  /** Tokens after the result. Default: what nine in ten trajectories have, from 5 to 200. */
  after?: number;
  /** The colours. Default: those of the page that shows it; `light` in a file. */
  theme?: "light" | "dark";
  /** What stands above the figure. Default: "Entropy around the first tool result". */
  title?: string;
}

const rules: OptionRules<EntropyRibbonOptions> = {
  scored: "object?",
  decided: listOf("object", "distances with what is decided there"),
  width: {
    must: "a number from 240 to 4000",
    holds: (width) => typeof width === "number" && width >= 240 && width <= 4000,
    number: true,
  },
  before: integer(1),
  after: integer(1),
  theme: oneOf(["light", "dark"]),
  title: "text?",
};

const ribbonStyle =
  ".arpo-ribbon figure{margin:0}.arpo-view.arpo-ribbon .arpo-wide>svg{min-width:var(--least)}" +
  ".arpo-ribbon figcaption{max-width:74ch}" +
  pageColours(".arpo-ribbon");

/** Lines beyond this are thinner than print can show. */
const mostLines = 400;

/**
 * Trajectories around their first tool result, as one vector picture; shows itself.
 */
export class EntropyRibbon extends View<RibbonPayload> {
  protected override readonly page = { name: "ribbon", style: ribbonStyle };

  constructor(trees: readonly RolloutTree[], options: EntropyRibbonOptions) {
    super(ribbonPayload(trees, options));
  }

  /** What it shows, in words: a caption. */
  override get summary(): string {
    return this.payload.words;
  }

  override picture(): string {
    return ribbonSvg({ ...this.payload, theme: figureTheme(this.payload.chosen ?? "light") });
  }

  /** The picture with its caption: in the page's colours where no theme was chosen. */
  protected override still(): string {
    const { payload, drawn } = this;
    const inPage =
      payload.chosen === undefined ? ribbonSvg({ ...payload, theme: pageTheme }) : drawn;
    const least = `--least:${Math.min(payload.width, 560)}px`;
    return `<figure style="${least}">${wide("picture", inPage)}<figcaption>${escapeHtml(this.summary)}</figcaption></figure>`;
  }

  protected override data() {
    return {};
  }
}

/** A ribbon without its colours, and the theme that was chosen. */
type RibbonPayload = Omit<RibbonDrawing, "theme"> & { chosen: "light" | "dark" | undefined };

function ribbonPayload(
  trees: readonly RolloutTree[],
  options: EntropyRibbonOptions,
): RibbonPayload {
  const { scored, decided = [], width = 672, theme } = options;
  const { rows, without } = ribbonRows(trees, scored);
  if (rows.length === 0) {
    const count = trees.reduce((sum, { trajectories }) => sum + trajectories.length, 0);
    throw new RangeError(
      `Cannot draw an entropy ribbon: a trajectory must have a tool result, got ${count} without one`,
    );
  }
  const from = -(options.before ?? Math.min(40, nineInTen(rows.map(({ zero }) => zero))));
  const to =
    options.after ??
    Math.max(5, Math.min(200, nineInTen(rows.map((r) => r.entropies.length - r.zero))));
  const means = ribbonMeans(rows, from, to);
  const prompts = new Set(rows.map(({ prompt }) => prompt)).size;
  const shown = sampled(rows);
  const peak = peakOf(means);
  const title = options.title ?? "Entropy around the first tool result";
  const words = [
    `${title}: ${rows.length} trajectories of ${prompts === 1 ? "one prompt" : `${prompts} prompts`}${outcomes(rows)}.`,
    ...(peak
      ? [
          `Mean entropy peaks at ${peak.mean.toFixed(2)} nats, at token ${peak.offset + 1} after the result.`,
        ]
      : []),
    `The mean counts each token once; ${prompts < 2 ? "one prompt gives no interval" : "the band is its 95% interval over prompts"}.`,
    ...(shown.length < rows.length ? [`${shown.length} lines are drawn, evenly chosen.`] : []),
    ...(without > 0 ? [`${without} more without a tool result are left out.`] : []),
  ].join(" ");
  return {
    ...{ rows: shown, means, decided, from, to, prompts, width, title, words, chosen: theme },
  };
}

function outcomes(rows: readonly RibbonRow[]): string {
  const names = [...new Set(rows.map(({ outcome }) => outcome))];
  if (names.length === 1 && names[0] === "not scored") return "";
  const counts = names.map((name) => `${rows.filter((r) => r.outcome === name).length} ${name}`);
  return ` (${counts.join(", ")})`;
}

/** A length that nine in ten reach. */
function nineInTen(lengths: readonly number[]): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  return Math.max(1, sorted[Math.floor(sorted.length * 0.9)] ?? 1);
}

/** As many lines as print can show, evenly chosen. */
function sampled(rows: readonly RibbonRow[]): readonly RibbonRow[] {
  if (rows.length <= mostLines) return rows;
  return Array.from(
    { length: mostLines },
    (_, i) => rows[Math.floor((i * rows.length) / mostLines)]!,
  );
}

/**
 * The entropy of every trajectory around its first tool result: a line each, sorted by outcome, with the
 * mean over tokens, its 95% interval over prompts, and where branches start. A vector picture of a chosen
 * width: `saveFigure("ribbon.svg", entropyRibbon(trees, { width: 317 }))`.
 *
 * @param trees one tree or several
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 * import { entropyRibbon, toSvg } from "arpo-lab/view";
 *
 * const tools = new ToolSet([calculator()]);
 * const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], { n: 8, tools });
 * const ribbon = entropyRibbon(trees, { scored: await score(trees, ({ length }) => length % 2) });
 * assert.match(ribbon.summary, /trajectories of 2 prompts/);
 * assert.match(toSvg(ribbon), /^<svg /);
 * ```
 */
export function entropyRibbon(
  trees: RolloutTree | readonly RolloutTree[],
  options: EntropyRibbonOptions = {},
): EntropyRibbon {
  const list = Array.isArray(trees) ? (trees as readonly RolloutTree[]) : [trees as RolloutTree];
  for (const tree of list) checkArguments("draw an entropy ribbon", { tree }, { tree: "tree" });
  checkOptions("draw an entropy ribbon", options, rules);
  return new EntropyRibbon(list, options);
}
