import { program } from "#pages/credit";
import { escapeHtml } from "../../../common/picture/escape.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { type AdvantageOptions, creditOf, type Estimator } from "../../learn/advantages.js";
import {
  estimatorNamed,
  estimatorsByName,
  namesWithCredit,
  optionName,
} from "../../learn/estimators/registry.js";
import { type CreditSum, type CreditTerm, total } from "../../learn/estimators/credit.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { checkScored, type Scored } from "../../reward/scored.js";
import { packIntegers, packVocabulary } from "../page/pack.js";
import { colourRamp } from "../page/colour-ramp.js";
import { cut, isLess, numberText } from "../page/words.js";
import { integersOf } from "../page/unpack.js";
import { grey } from "../../../common/picture/grey.js";
import { palettes } from "../../../common/picture/palette.js";
import { View } from "../page/view.js";
import type { CreditPayload, ShownRule, ShownSum, SumPart } from "./payload.js";

const columns = 3;
const width = 300;
const gap = 16;
const head = 34;

/** What one rectangle stands for: neighbours of one trajectory that got the same. */
interface Stretch {
  start: number;
  end: number;
  value: number;
}

/** A trajectory's trained tokens under a rule, in spans. */
function stretches(
  spans: ShownRule["spans"][number],
  { sums }: CreditPayload,
  isTrained: (token: number) => boolean,
): Stretch[] {
  const found: Stretch[] = [];
  for (const [from, to, sum] of spans) {
    const { value } = sums[sum]!;
    for (let t = from; t < to; t++) {
      if (!isTrained(t)) continue;
      const last = found.at(-1);
      if (last && last.end === t && last.value === value) last.end = t + 1;
      else found.push({ start: t, end: t + 1, value });
    }
  }
  return found;
}

/**
 * One small map per rule, all on one scale: a line per trajectory, tokens from left to right, what a
 * trajectory has in common with the one it left as a thin line.
 */
function creditPicture(payload: CreditPayload): string {
  const { rows, rules, reach } = payload;
  const trained = integersOf(payload.trained, false);
  const line = Math.max(3, Math.min(10, Math.floor(140 / rows.length)));
  const longest = Math.max(1, ...rows.map(({ length }) => length));
  const x = (token: number) => Math.round((token / longest) * width * 10) / 10;
  const tall = head + rows.length * line;
  const colour = colourRamp(palettes.auto.diverging, -reach, reach);
  // What does not apply is named in words, not drawn.
  const shown = rules.flatMap((rule, r) => (rule.missing === undefined ? [{ rule, r }] : []));
  const left = rules.flatMap(({ name, missing }) =>
    missing === undefined ? [] : [`not here: ${name}, ${missing}`],
  );
  const marks = shown.map(({ rule, r }, place) => {
    const left = (place % columns) * (width + gap);
    const top = Math.floor(place / columns) * (tall + gap);
    const title = `<text x="0" y="12" font-weight="600">${escapeHtml(rule.name)}</text>`;
    const words = rule.meaning;
    const why = `<text x="0" y="26" font-size="10" opacity=".75">${escapeHtml(cut(words, 54))}<title>${escapeHtml(words)}</title></text>`;
    let dots = "";
    const heat = rule.spans.flatMap((spans, row) => {
      const { start, shared } = rows[row]!;
      return stretches(spans, payload, (t) => trained[start + t] === 1).map((one) => {
        // What was written once stands thick once.
        const thin = one.start < shared;
        const high = thin ? Math.max(1, Math.floor(line / 3)) : line - 1;
        const y = head + row * line + (thin ? Math.floor((line - high) / 2) : 0);
        // Not by colour alone: a dotted line lies on what is discouraged.
        if (isLess(one.value)) dots += `M${x(one.start)} ${y + high / 2}H${x(one.end)}`;
        return `<rect x="${x(one.start)}" y="${y}" width="${Math.max(0.6, x(one.end) - x(one.start))}" height="${high}" fill="${colour(one.value)}" data-value="${one.value}"/>`;
      });
    });
    // Every trajectory's whole length, its results and what gets no credit included.
    const length = rows.map((row, i) => {
      const y = head + i * line + Math.floor(line / 2);
      return `M0 ${y}H${x(row.length)}`;
    });
    const faint = `<path d="${length.join("")}" stroke="${grey(0.35)}" stroke-width=".6"/>`;
    const ground = `<rect class="arpo-map" data-rule="${r}" x="0" y="${head}" width="${width}" height="${rows.length * line}" fill="transparent" stroke="${grey(0.4)}"/>`;
    return `<g transform="translate(${left} ${top})">${title}${why}${faint}${heat.join("")}<path d="${dots}" class="arpo-less-line" stroke="currentColor" stroke-opacity=".8" stroke-dasharray="1.2 2"/>${ground}</g>`;
  });
  const lines = Math.ceil(shown.length / columns);
  const end = lines * (tall + gap) + 8;
  const [wide, high] = [columns * (width + gap) - gap + 2, end + 6 + 15 * left.length];
  const legend = `<text x="0" y="${end}" font-size="11">green: encouraged · rust with a dotted line: discouraged · one scale for all rules, ±${numberText(reach, 3)} or more</text>${left.map((words, i) => `<text x="0" y="${end + 15 * (i + 1)}" font-size="10" opacity=".75">${escapeHtml(words)}</text>`).join("")}`;
  const label = escapeHtml(payload.summary[0]!);
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${label}" viewBox="-1 0 ${wide} ${high}" width="${wide}" style="max-width:100%;height:auto;font:12px system-ui,sans-serif" fill="currentColor" data-longest="${longest}" data-line="${line}" data-head="${head}">${marks.join("")}${legend}</svg>`;
}

/** A credit rule to show: an estimator, or one with its options under a name of its own. */
type CreditRule = Estimator | (AdvantageOptions & { name: string });

const meaningOf = (given: NonNullable<AdvantageOptions["estimator"]>) =>
  (typeof given === "object" ? given : estimatorsByName.get(given))?.meaning ?? "";

/** What is shown where nobody chooses: every estimator, some under other settings too. */
const usualRules = (): CreditRule[] =>
  (namesWithCredit() as Estimator[]).flatMap((estimator): CreditRule[] => {
    const variants = estimatorNamed(estimator)?.variants ?? [];
    return [
      estimator,
      ...variants.map(({ name, settings }) => ({
        ...{ name: `${estimator}, ${name}`, estimator },
        [optionName(estimator)]: settings,
      })),
    ];
  });

/** A rule's name, its meaning, and the options that make it. */
function ruleOf(rule: CreditRule): {
  name: string;
  meaning: string;
  options: AdvantageOptions;
} {
  const { name, ...options } = typeof rule === "string" ? { name: rule, estimator: rule } : rule;
  return { name, meaning: meaningOf(options.estimator ?? "grpo"), options };
}

interface CreditViewOptions {
  /** The rules to lay side by side. Default: all of them. */
  rules?: readonly CreditRule[];
  /** The task whose tree is shown. Default: the first. Credit is always given over everything scored. */
  group?: string;
  /** Trajectories that are shown at most. Default: 32. */
  rows?: number;
  /**
   * Without one, tokens of trees from files are shown as their numbers. Default: the tree's own.
   */
  tokenizer?: Tokenizer;
}

const creditViewRules: OptionRules<CreditViewOptions> = {
  rules: "list?",
  group: "text?",
  rows: integer(0),
  tokenizer: "tokenizer?",
};

const digits = 6;
const rounded = (value: number) => Number(value.toPrecision(digits));

/** Sums by their place in a list, each there once. */
class Sums {
  readonly list: ShownSum[] = [];
  readonly #known = new Map<string, number>();
  readonly #same = new Map<CreditSum, number>();

  place(sum: CreditSum): number {
    const seen = this.#same.get(sum);
    if (seen !== undefined) return seen;
    const part = ({ name, value, from }: CreditTerm): SumPart =>
      from === undefined ? [name, rounded(value)] : [name, rounded(value), from];
    const shown = {
      terms: sum.terms.map(part),
      factors: sum.factors.map(part),
      value: rounded(total(sum)),
    };
    const key = JSON.stringify(shown);
    const at = this.#known.get(key) ?? this.list.push(shown) - 1;
    this.#known.set(key, at);
    this.#same.set(sum, at);
    return at;
  }
}

/** The value that all but one in fifty trained tokens stay below, so that one does not fade the others. */
function reachOf(rules: readonly ShownRule[], sums: readonly ShownSum[]): number {
  const tokens = rules.flatMap(({ spans }) =>
    spans.flatMap((list) =>
      list.map(([start, end, sum]) => [Math.abs(sums[sum]!.value), end - start] as const),
    ),
  );
  const sorted = tokens.filter(([value]) => value > 0).sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [value, count] of sorted) {
    below += count;
    if (below >= 0.98 * all) return value;
  }
  return 1;
}

/** A rule in a line of words. */
function inWords({ name, spans, missing }: ShownRule, sums: readonly ShownSum[]): string {
  if (missing !== undefined) return `${name}: ${missing}`;
  const values = spans.flatMap((list) => list.map(([, , sum]) => sums[sum]!.value));
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (values.length === 0) return `${name}: nothing`;
  const different = new Set(values).size;
  return `${name}: ${rounded(low).toPrecision(3)} to ${rounded(high).toPrecision(3)}, ${different} different`;
}

/** Everything a credit view's page needs. */
function creditPayload(scored: Scored, options: CreditViewOptions): CreditPayload {
  const { rules = usualRules(), group = scored.trajectories[0]?.group, rows: most = 32 } = options;
  const shown = scored.trajectories
    .map((row, i) => ({ row, i }))
    .filter(({ row }) => row.group === group)
    .slice(0, most);
  if (shown.length === 0) {
    const groups = [...new Set(scored.trajectories.map((row) => row.group))];
    throw new RangeError(
      `Cannot show credit: the group must be one of ${groups.slice(0, 5).join(", ") || "(nothing is scored)"}, got ${String(group)}`,
    );
  }
  const treeOf = (index: number) => scored.trees.find((tree) => tree.index === index);
  const tokenizer = options.tokenizer ?? treeOf(shown[0]!.row.trajectory.tree)?.tokenizer;
  const { vocabulary, place: spell } = packVocabulary(tokenizer);
  let at = 0;
  const places = shown.map(({ row: { trajectory, score } }) => {
    const { id: row, tokens, tree } = trajectory;
    const from = treeOf(tree)?.trajectories[row];
    const path = from && from.from >= 0 ? treeOf(tree)!.path(from.from) : [];
    const shared = path.reduce((sum, node) => sum + node.tokens.length, 0);
    const start = at;
    at += tokens.length;
    const left = from && from.kind === "branch" ? `, left trajectory ${from.parent}` : "";
    const label = `trajectory ${row}${left}, score ${rounded(score.score)}`;
    return { label, start, length: tokens.length, shared: Math.min(shared, tokens.length) };
  });
  const tokens = shown.flatMap(({ row }) => Array.from(row.trajectory.tokens, spell));
  const sums = new Sums();
  const made = rules.map((rule): ShownRule => {
    const { name, meaning, options: own } = ruleOf(rule);
    try {
      const credit = creditOf(scored, own);
      const spans = shown.map(({ i }) =>
        (credit.spans[i] ?? []).map(({ start, end, sum }): [number, number, number] => [
          start,
          end,
          sums.place(sum),
        ]),
      );
      return { name, meaning, spans };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { name, meaning, spans: [], missing: said.replace(/^Cannot use \w+: /, "") };
    }
  });
  const wide = tokens.some((value) => value > 65535);
  const all = scored.trajectories.filter((row) => row.group === group).length;
  const some = all > shown.length ? `, ${shown.length} of them shown` : "";
  return {
    summary: [
      `Task ${group}: ${all} trajectories${some}, ${rules.length} credit rules on one scale.`,
      ...made.map((rule) => inWords(rule, sums.list)),
    ],
    ...{ vocabulary, wide, rules: made, sums: sums.list, rows: places },
    tokens: packIntegers(tokens, wide),
    trained: packIntegers(
      shown.flatMap(({ row }) => Array.from(row.trajectory.lossMask)),
      false,
    ),
    reach: reachOf(made, sums.list),
  };
}

const style = `
.arpo-credit svg .arpo-map{cursor:pointer}
.arpo-credit .arpo-lines{overflow:auto;border:1px solid var(--line);border-radius:8px;max-height:420px}
.arpo-credit .arpo-lines table{font:12px/1.4 ui-monospace,"DejaVu Sans Mono",monospace;margin:0;border-collapse:separate;border-spacing:0}
.arpo-view.arpo-credit .arpo-lines td{padding:1px 0;border:0;white-space:pre;cursor:pointer}
.arpo-view.arpo-credit .arpo-lines th{position:sticky;left:0;background:var(--ground);padding:1px 10px 1px 6px;border:0;white-space:nowrap;font-weight:400;z-index:1}
.arpo-view.arpo-credit .arpo-lines td.arpo-less{border-top:2px dotted currentColor}
.arpo-credit .arpo-lines .arpo-untrained{opacity:.75}
.arpo-credit .arpo-lines .arpo-on{outline:2px solid var(--accent);outline-offset:-1px}
.arpo-credit .arpo-lines .arpo-at{box-shadow:inset 1px 0 var(--accent),inset -1px 0 var(--accent)}
.arpo-credit .arpo-lines th>span{display:flex;justify-content:space-between;gap:10px}
.arpo-credit .arpo-lines output{min-width:7ch;text-align:right}
.arpo-credit .arpo-lines tr.arpo-chosen th{font-weight:700;color:var(--accent)}
.arpo-credit .arpo-sum{min-height:9em}
.arpo-credit .arpo-sum td:nth-child(2){font-family:ui-monospace,"DejaVu Sans Mono",monospace}
.arpo-credit .arpo-sum tr.arpo-marked td{font-weight:700;border-bottom:0}
`;

/**
 * One tree under many credit rules, side by side; shows itself.
 */
class CreditView extends View<CreditPayload> {
  protected override readonly page = { name: "credit", style, program };

  override get summary(): string {
    return this.payload.summary.join("\n");
  }

  /** The maps of all rules as one picture. */
  override picture(): string {
    return creditPicture(this.payload);
  }
}

/**
 * One tree under all credit rules: the same tokens in trajectories, coloured by advantage on one scale; a click
 * on a token tells the sum that made its advantage, in numbers. Rules that the tree has not enough for say
 * what is missing.
 *
 * @param scored the scored tree to show
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { creditView } from "arpo-lab/view";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 4, seed: 1 });
 * const scored = await score(tree, ({ length }) => length % 2);
 * const rules = ["grpo", { name: "RLOO", estimator: "rloo" }] as const;
 * assert.match(creditView(scored, { rules }).summary, /2 credit rules.*\ngrpo: .*\nRLOO: /);
 * ```
 */
export function creditView(scored: Scored, options: CreditViewOptions = {}): CreditView {
  checkScored("show credit", scored);
  checkArguments("show credit", { scored }, { scored: { trees: "list" } });
  checkOptions("show credit", options, creditViewRules);
  return new CreditView(creditPayload(scored, options));
}
