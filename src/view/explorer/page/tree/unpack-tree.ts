import type { ExpansionRule } from "../../../../rollout/rules/registry.js";
import type { ExpansionPlan } from "../../../../rollout/replay/plan-expansion.js";
import { integersOf, numbersOf } from "../../../page/unpack.js";
import type { ExplorerPayload, PackedExpansions, PageNode } from "../../payload.js";

/** A flat list in parts of so many numbers. */
const inParts = (list: readonly number[], size: number): number[][] =>
  Array.from({ length: list.length / size }, (_, i) => list.slice(i * size, (i + 1) * size));

/** Turns what was packed back into plans that can be followed. */
export function unpackPlans({
  trajectories,
  plans,
}: PackedExpansions): Partial<Record<ExpansionRule, ExpansionPlan>> {
  const made = Object.entries(plans).map(([rule, { places, counts, turns, ...rest }]) => {
    const chains = trajectories.map(([row, parent, tree, start, split, length, isFirst], i) => ({
      ...{ id: row!, parent: parent!, tree: tree!, start: start!, split: split!, length: length! },
      // What is no branch and no first trajectory was a refill.
      kind:
        isFirst === 1
          ? ("initial" as const)
          : parent! < 0
            ? ("refill" as const)
            : ("branch" as const),
      count: counts[i]!,
      places: inParts(places[i]!, 5).map(([at, token, place, score, strict]) => ({
        ...{ at: at!, token: token!, place: place!, score: score! },
        ...(strict === 1 ? { strict: true } : {}),
      })),
      turns: inParts(turns[i]!, 3).map(([from, end, signal]) => ({
        ...{ start: from!, end: end!, signal: signal! },
      })),
    }));
    return [rule, { ...rest, chains }] as const;
  });
  return Object.fromEntries(made);
}

/** A tree as the page works with it. */
export interface PageTree extends Omit<
  ExplorerPayload,
  "tokens" | "entropies" | "surprises" | "advantages" | "gaps" | "top" | "expansions"
> {
  expansions: ReturnType<typeof unpackPlans>;
  /** Places of each trajectory that a rule can choose among. */
  most: number;
  tokens: Uint16Array | Uint32Array;
  entropies: Float32Array;
  surprises: Float32Array;
  advantages?: Float32Array;
  gaps?: Float32Array;
  top?: { width: number; ids: Uint16Array | Uint32Array; surprises: Float32Array };
}

/** Turns what was packed back into numbers. */
export function unpackTree(payload: ExplorerPayload): PageTree {
  const { advantages, gaps, top, wide } = payload;
  return {
    ...payload,
    expansions: unpackPlans(payload.expansions),
    most: payload.expansions.most,
    tokens: integersOf(payload.tokens, wide),
    entropies: numbersOf(payload.entropies),
    surprises: numbersOf(payload.surprises),
    advantages: advantages && numbersOf(advantages),
    gaps: gaps && numbersOf(gaps),
    top: top && {
      width: top.width,
      ids: integersOf(top.ids, wide),
      surprises: numbersOf(top.surprises),
    },
  };
}

/** What a token says; its number where no tokenizer was there. */
export function tokenText(tree: PageTree, place: number): string {
  return tree.vocabulary.length === 0 ? `#${place} ` : (tree.vocabulary[place] ?? "");
}

/** What a node says, from a token on. */
export function textOf(tree: PageTree, { start, length }: PageNode, from = 0): string {
  let text = "";
  for (let i = start + Math.max(0, from); i < start + length; i++) {
    text += tokenText(tree, tree.tokens[i]!);
  }
  return text;
}
