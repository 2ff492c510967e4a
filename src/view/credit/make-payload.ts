import { integer, type OptionRules } from "../../arguments/check-options.js";
import { creditOf } from "../../learn/advantages.js";
import { type CreditSum, type CreditTerm, total } from "../../learn/credit/credit.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Scored } from "../../reward/scored.js";
import { packIntegers } from "../pack.js";
import type { CreditPayload, ShownRule, ShownSum, SumPart } from "./payload.js";
import { type CreditRule, ruleOf, usualRules } from "./rules.js";

export interface CreditViewOptions {
  /** The rules to lay side by side. Default: all of them. */
  rules?: readonly CreditRule[];
  /** The task whose tree is shown. Default: the first. Credit is always given over everything scored. */
  group?: string;
  /** Rows that are shown at most. Default: 32. */
  rows?: number;
  /** Without one, tokens of trees from files are shown as their numbers. */
  tokenizer?: Tokenizer;
}

export const creditViewRules: OptionRules<CreditViewOptions> = {
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
export function creditPayload(scored: Scored, options: CreditViewOptions): CreditPayload {
  const { rules = usualRules, group = scored.rows[0]?.group, rows: most = 32 } = options;
  const shown = scored.rows
    .map((row, i) => ({ row, i }))
    .filter(({ row }) => row.group === group)
    .slice(0, most);
  if (shown.length === 0) {
    const groups = [...new Set(scored.rows.map((row) => row.group))];
    throw new RangeError(
      `Cannot show credit: the group must be one of ${groups.slice(0, 5).join(", ") || "(nothing is scored)"}, got ${String(group)}`,
    );
  }
  const treeOf = (index: number) => scored.trees.find((tree) => tree.index === index);
  const tokenizer = options.tokenizer ?? treeOf(shown[0]!.row.trajectory.tree)?.tokenizer;
  const vocabulary: string[] = [];
  const known = new Map<number, number>();
  const spell = (id: number) => {
    if (!tokenizer) return id;
    if (!known.has(id)) known.set(id, vocabulary.push(tokenizer.decode([id])) - 1);
    return known.get(id)!;
  };
  let at = 0;
  const places = shown.map(({ row: { trajectory, score } }) => {
    const { id: row, tokens, tree } = trajectory;
    const from = treeOf(tree)?.trajectories[row];
    const path = from && from.from >= 0 ? treeOf(tree)!.path(from.from) : [];
    const shared = path.reduce((sum, node) => sum + node.tokens.length, 0);
    const start = at;
    at += tokens.length;
    const left = from && from.kind === "branch" ? `, left row ${from.parent}` : "";
    const label = `row ${row}${left}, score ${rounded(score.score)}`;
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
  const all = scored.rows.filter((row) => row.group === group).length;
  const some = all > shown.length ? `, ${shown.length} of them shown` : "";
  return {
    summary: [
      `Task ${group}: ${all} rows${some}, ${rules.length} credit rules on one scale.`,
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
