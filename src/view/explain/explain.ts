import { program } from "#pages/explain";
import { escapeHtml } from "../../../common/picture/escape.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { TrainingBatch } from "../../learn/batch.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import { figureTheme } from "../draw/figure-theme.js";
import { stillSvg, svgPainter } from "../draw/svg-painter.js";
import { cut } from "../page/words.js";
import { numberText } from "../page/words.js";
import { View } from "../page/view.js";
import { type ExplainOptions, explainPayload, explainRules } from "./make-payload.js";
import { type ExplainedBatch, readBatch } from "./page/read-batch.js";
import { tokenTerms, type TokenTerms } from "./page/token-terms.js";
import type { ExplainPayload } from "./payload.js";

/** What an algorithm does with the tokens of a batch. */
interface AlgorithmCounts {
  label: string;
  loss: string;
  dropped: number;
  kept: number;
}

const [width, line, above, from, room] = [720, 24, 60, 250, 260];

/** How many gradients each algorithm drops, and keeps beyond its bounds, as bars from one zero. */
function countsPicture(
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

const style = `
.arpo-view .arpo-lost{text-decoration:line-through;text-decoration-thickness:2px}
.arpo-view .arpo-kept{text-decoration:underline;text-decoration-thickness:2px}
.arpo-view .arpo-untrained{opacity:.75}
.arpo-explain .arpo-text span[data-token]:not(.arpo-untrained){cursor:pointer}
.arpo-explain .arpo-text{max-height:150px}
.arpo-explain .arpo-verdict{border-left:4px solid var(--accent);background:var(--soft);border-radius:0 8px 8px 0;padding:8px 12px;margin:8px 0;font-size:14px}
.arpo-explain .arpo-chosen{font:600 14px ui-monospace,"DejaVu Sans Mono",monospace;margin-right:6px}
.arpo-explain .arpo-formulas{border:1px solid var(--line);border-radius:8px;overflow:hidden}
.arpo-explain .arpo-line{padding:8px 14px}
.arpo-explain .arpo-line+.arpo-line{border-top:1px solid var(--line)}
.arpo-explain .arpo-line h4{font-size:13px;font-weight:600}
.arpo-explain .arpo-pair{display:flex;flex-wrap:wrap;gap:6px 20px;align-items:center}
.arpo-explain .arpo-formula{flex:1 1 330px;overflow:auto hidden}
.arpo-explain .arpo-pair>div:last-child{flex:1 1 380px;min-width:0}
.arpo-explain math{font-size:17px;text-align:left;margin:4px 0;width:max-content}
.arpo-explain [data-value]{color:var(--accent);font:600 12px ui-monospace,"DejaVu Sans Mono",monospace;padding:2px 4px 0}
.arpo-explain .arpo-code{margin:3px 0;font-size:12px}
.arpo-explain .arpo-code span{display:block;font-size:11px}
.arpo-explain .arpo-code code{display:block;font:12px/1.45 ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;padding:0;border:0}
.arpo-explain .arpo-marked td{font-weight:600;background:var(--soft)}
.arpo-explain td,.arpo-explain th{white-space:nowrap}
`;

/**
 * An objective at work on single tokens; shows itself.
 */
class Explanation extends View<ExplainPayload> {
  protected override readonly page = { name: "explain", style, program };
  readonly #batch: ExplainedBatch;

  constructor(source: TrainingBatch | UpdateReport, options: ExplainOptions = {}) {
    checkArguments("explain", { source }, { source: "object" });
    checkOptions("explain", options, explainRules);
    if (!("batch" in source))
      checkArguments("explain", { rows: source.trajectories }, { rows: "list" });
    super(explainPayload(source, options));
    this.#batch = readBatch(this.payload);
  }

  /** The names of the algorithms that can be looked at; `own` is what was done. */
  get algorithms(): string[] {
    return this.payload.algorithms.map(({ name }) => name);
  }

  /** Every quantity of the objective at one response token of a trajectory of the batch. */
  token(row: number, token: number, algorithm = this.payload.first): TokenTerms {
    const place = this.payload.rows[row];
    const found = this.payload.algorithms.find(({ name }) => name === algorithm);
    if (!found) {
      throw new RangeError(
        `Cannot explain a token: the algorithm must be one of ${this.algorithms.join(", ")}, got ${algorithm}`,
      );
    }
    const batch = this.#batch;
    const at = place && token >= 0 && token < place.length ? place.start + token : -1;
    if (batch.mask[at] !== 1) {
      throw new RangeError(
        `Cannot explain a token: the model must have written it, got token ${token} of trajectory ${row}`,
      );
    }
    return tokenTerms(batch.input(at, found), found);
  }

  protected override still(): string {
    return `<pre>${escapeHtml(this.summary)}</pre>`;
  }

  protected override data() {
    return { batch: this.payload };
  }

  /** What becomes of the tokens under each algorithm, counted. */
  #counts() {
    const batch = this.#batch;
    const trained = Array.from(batch.mask.keys()).filter((token) => batch.mask[token] === 1);
    const algorithms = this.payload.algorithms.map((algorithm) => {
      const terms = trained.map((token) => tokenTerms(batch.input(token, algorithm), algorithm));
      const count = (is: (t: TokenTerms) => boolean) => terms.filter(is).length;
      const dropped = count(({ weight, hold }) => weight === 0 && hold === 0);
      const kept = count(({ region, weight }) => region !== "inside" && weight > 0);
      const loss = terms.reduce((sum, t) => sum + t.share * t.loss, 0);
      return { label: algorithm.label, loss: numberText(loss, 4), dropped, kept };
    });
    return { trained: trained.length, algorithms };
  }

  override get summary(): string {
    const { trained, algorithms } = this.#counts();
    const lines = algorithms.map(
      ({ label, loss, dropped, kept }) =>
        `  ${label}: loss ${loss}, ${dropped} gradients dropped, ${kept} kept beyond the bounds`,
    );
    return [`The objective on ${trained} trained tokens`, ...lines].join("\n");
  }

  /** The counts as bars, a line for each algorithm. */
  override picture(): string {
    const { trained, algorithms } = this.#counts();
    return countsPicture(`The objective on ${trained} trained tokens`, trained, algorithms);
  }
}

/**
 * What an algorithm's objective does to each token of a batch: its formula with the token's values, the
 * lines of the library that compute them, and what other algorithms would have done. From a batch
 * before its update (every ratio is 1) or from an update's report.
 *
 * @param source a batch, or the report of its update
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages } from "arpo-lab/learn";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { explain } from "arpo-lab/view";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?", groundTruth: "42" }, { n: 4, seed: 1 });
 * const batch = advantages(await score(tree, ({ response }) => response.length));
 * const { ratio, weight } = explain(batch).token(0, 0, "aepo");
 * assert.deepEqual([ratio, weight], [1, 1]);
 * ```
 */
export function explain(
  source: TrainingBatch | UpdateReport,
  options: ExplainOptions = {},
): Explanation {
  return new Explanation(source, options);
}
