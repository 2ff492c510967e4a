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
import type { Theme } from "../draw/theme.js";
import { type RibbonRow, ribbonMeans, ribbonRows } from "./ribbon-rows.js";
import { type DecidedAt, peakOf, ribbonSvg } from "./ribbon-svg.js";

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
  ".arpo-ribbon{margin:0}.arpo-ribbon>div{overflow:auto}.arpo-ribbon svg{min-width:var(--least)}" +
  ".arpo-ribbon figcaption{max-width:74ch;font:13px/1.5 system-ui,sans-serif}" +
  pageColours(".arpo-ribbon");

/** Lines beyond this are thinner than print can show. */
const mostLines = 400;

/**
 * Trajectories around their first tool result, as one vector picture; shows itself.
 */
export class EntropyRibbon {
  /** What it shows, in words: a caption. */
  readonly summary: string;
  readonly #svg: string;
  readonly #inPage: string;
  readonly #least: number;

  constructor(trees: readonly RolloutTree[], options: EntropyRibbonOptions) {
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
    this.summary = [
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
    const drawn = (colours: Theme) =>
      ribbonSvg({
        ...{ rows: shown, means, decided, from, to, prompts, width, title, words: this.summary },
        theme: colours,
      });
    this.#svg = drawn(figureTheme(theme ?? "light"));
    this.#least = Math.min(width, 560);
    this.#inPage = theme === undefined ? drawn(pageTheme) : this.#svg;
  }

  /** The picture with its caption: in the page's colours where no theme was chosen. */
  html(): string {
    return `<style>${ribbonStyle}</style><figure class="arpo-ribbon" style="--least:${this.#least}px"><div tabindex="0" role="group" aria-label="picture">${this.#inPage}</div><figcaption>${escapeHtml(this.summary)}</figcaption></figure>`;
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return {
      "text/html": this.html(),
      "image/svg+xml": this.#svg,
      "text/plain": this.summary,
    };
  }
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
