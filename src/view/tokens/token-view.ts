import { checkArguments } from "../../arguments/check-arguments.js";
import { checkOptions, type OptionRules } from "../../arguments/check-options.js";
import { program } from "#pages/tokens";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { TokenUpdate } from "../../learn/loss/token-update.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import { escapeHtml } from "../../../picture/escape.js";
import { widgetHtml } from "../widget.js";
import { tokenPayload } from "./make-payload.js";
import type { TokenPayload } from "./payload.js";
import { tokenPicture } from "./token-picture.js";

export interface TokenViewOptions {
  /** Without one, tokens are shown as their numbers. */
  tokenizer?: Tokenizer;
}

export const tokenViewRules: OptionRules<TokenViewOptions> = { tokenizer: "tokenizer?" };

const style = `
.arpo-view .arpo-lost{text-decoration:line-through;text-decoration-thickness:2px}
.arpo-view .arpo-kept{text-decoration:underline;text-decoration-thickness:2px}
.arpo-view .arpo-untrained{opacity:.75}
.arpo-view .arpo-differs{box-shadow:inset 0 0 0 2px var(--accent)}
`;

/**
 * Tokens on colours, to be looked at one by one; shows itself.
 */
export class TokenView {
  constructor(readonly payload: TokenPayload) {}

  /** What it shows, in words. */
  get summary(): string {
    return this.payload.summary.join("\n");
  }

  /** One piece of HTML that needs nothing else, with some more HTML before it. */
  html(before = ""): string {
    return widgetHtml({
      name: "tokens",
      still: before + this.payload.summary.map((line) => `<p>${escapeHtml(line)}</p>`).join(""),
      data: { tokens: this.payload },
      style,
      program,
    });
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return this.bundle();
  }

  /** Every form it can be shown in, with some more HTML before it. */
  bundle(before = ""): Record<string, string> {
    return {
      "text/html": this.html(before),
      "image/svg+xml": tokenPicture(this.payload),
      "text/plain": this.summary,
    };
  }
}

/**
 * Each token that an update trained on, as text on the colour of its gradient weight, ratio, advantage
 * or entropy; what clipping dropped is struck out.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TrainingBatch, UpdateReport } from "arpo-lab/learn";
 * import { tokenView } from "arpo-lab/view";
 *
 * const report = new UpdateReport({}, new TrainingBatch([], "grpo"), {}, 0);
 * assert.match(tokenView(report).summary, /^update: 0 trained tokens/);
 * ```
 */
export function tokenView(report: UpdateReport, options: TokenViewOptions = {}): TokenView {
  checkArguments("show tokens", { report }, { report: { batch: "object" } });
  checkOptions("show tokens", options, tokenViewRules);
  const name = "update";
  const summary = [clipWords(name, updatesOf(report))];
  return new TokenView(tokenPayload(report.batch, [{ name, report }], summary, options.tokenizer));
}

/** What happened to every trained token of a report's batch. */
export function updatesOf(report: UpdateReport): TokenUpdate[] {
  return report.batch.rows.flatMap((row) => report.tokens(row)).filter((u) => u !== undefined);
}

/** What clipping did to some tokens, in words. */
export function clipWords(name: string, updates: readonly TokenUpdate[]): string {
  const count = (region: string) => updates.filter((update) => update.region === region).length;
  const lost = updates.filter((update) => update.weight === 0).length;
  // Only some losses pick tokens of their own, or leave a trajectory or a turn out.
  const own = [
    [count("chosen"), "chosen by the loss"],
    [count("dropped"), "left out"],
  ].flatMap(([n, what]) => (n ? [`, ${n} ${what}`] : []));
  return `${name}: ${updates.length} trained tokens, ${lost} without a gradient; ${count("above")} above the bounds, ${count("below")} below, ${count("dual")} beyond the dual clip${own.join("")}.`;
}
