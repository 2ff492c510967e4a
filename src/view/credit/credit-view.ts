import { checkArguments } from "../../arguments/check-arguments.js";
import { checkOptions } from "../../arguments/check-options.js";
import { program } from "#pages/credit";
import type { Scored } from "../../reward/scored.js";
import { PictureView } from "../picture-view.js";
import { creditPicture } from "./credit-picture.js";
import { creditPayload, type CreditViewOptions, creditViewRules } from "./make-payload.js";
import type { CreditPayload } from "./payload.js";

const style = `
.arpo-credit svg .arpo-map{cursor:pointer}
.arpo-credit .arpo-lines{overflow:auto;border:1px solid var(--line);border-radius:8px;max-height:420px}
.arpo-credit .arpo-lines table{font:12px/1.4 ui-monospace,"DejaVu Sans Mono",monospace;margin:0;border-collapse:separate;border-spacing:0}
.arpo-credit .arpo-lines td{padding:1px 0;border:0;white-space:pre;cursor:pointer}
.arpo-credit .arpo-lines th{position:sticky;left:0;background:var(--ground,#fff);padding:1px 10px 1px 6px;border:0;white-space:nowrap;font-weight:400;z-index:1}
.arpo-credit[data-theme=dark] .arpo-lines th{--ground:#17191c}
.arpo-credit .arpo-lines .arpo-untrained{opacity:.45}
.arpo-credit .arpo-lines .arpo-on{outline:2px solid var(--accent);outline-offset:-1px}
.arpo-credit .arpo-lines .arpo-at{box-shadow:inset 1px 0 var(--accent),inset -1px 0 var(--accent)}
.arpo-credit .arpo-lines output{display:inline-block;min-width:7ch;text-align:right;float:right;padding-left:10px}
.arpo-credit .arpo-lines tr.arpo-chosen th{font-weight:700;color:var(--accent)}
.arpo-credit .arpo-sum{min-height:9em}
.arpo-credit .arpo-sum td:nth-child(2){text-align:right;font-family:ui-monospace,"DejaVu Sans Mono",monospace}
.arpo-credit .arpo-sum tr.arpo-total td{font-weight:700;border-bottom:0}
`;

/**
 * One tree under many credit rules, side by side; shows itself.
 */
export class CreditView extends PictureView<CreditPayload> {
  protected override readonly page = { name: "credit", style, program };

  /** The maps of all rules as one picture. */
  override picture(): string {
    return creditPicture(this.payload);
  }
}

/**
 * One tree under all credit rules: the same tokens in rows, coloured by advantage on one scale; a click
 * on a token tells the sum that made its advantage, in numbers. Rules that the tree has not enough for say
 * what is missing.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { babbler } from "arpo-lab/experimental/testing";
 * import { creditView } from "arpo-lab/view";
 *
 * const tree = await rollout(babbler(), { prompt: "6*7?" }, { n: 4, seed: 1 });
 * const scored = await score(tree, ({ length }) => length % 2);
 * const rules = ["grpo", { name: "AT2PO", estimator: "at2po" }] as const;
 * assert.match(creditView(scored, { rules }).summary, /2 credit rules.*\ngrpo: .*\nAT2PO: /);
 * ```
 */
export function creditView(scored: Scored, options: CreditViewOptions = {}): CreditView {
  checkArguments("show credit", { scored }, { scored: { rows: "list", trees: "list" } });
  checkOptions("show credit", options, creditViewRules);
  return new CreditView(creditPayload(scored, options));
}
