import { Random } from "../../../random/random.js";
import type { CreditSpan } from "../credit.js";
import type { CreditOptions } from "../options.js";
import type { Chain } from "../treerl-forest.js";
import { chooseLeaves } from "../treerl-leaves.js";
import { treeRlPaths } from "../treerl.js";
import type { CreditBatch } from "./batch.js";
import { type CreditRow, familyOf, prompts, rowFinder } from "./rows.js";

const wasCut = ({ scored }: CreditRow) => ["length", "context"].includes(scored.trajectory.end);

/** A prompt's rows as chains, a tree for every initial row. */
function chainsOf(rows: readonly CreditRow[], own: readonly number[]) {
  const family = familyOf(rows);
  const find = rowFinder(rows);
  const trees: Chain[][] = [];
  const members: number[][] = [];
  const place = new Map<number, { tree: number; chain: number; start: number }>();
  const treeOf = new Map<number, number>();
  for (const row of own) {
    const { tree, scored, parent, shared, length, reward } = rows[row]!;
    if (find(tree, scored.trajectory.row) !== row) continue; // A repeated row.
    const root = family(row);
    const at = treeOf.get(root) ?? trees.length;
    treeOf.set(root, at);
    const list = (trees[at] ??= []);
    const names = (members[at] ??= []);
    const chain: Chain = { tokens: length, score: reward, ended: !wasCut(rows[row]!) };
    let start = 0;
    let above = root === row ? -1 : find(tree, parent);
    // What was left may have been left before its own first token.
    while (above >= 0 && place.get(above)!.start > shared) {
      above = find(tree, rows[above]!.parent);
    }
    if (above >= 0) {
      const left = place.get(above)!;
      start = shared;
      chain.parent = left.chain;
      chain.split = shared - left.start;
      chain.tokens = length - shared;
    }
    place.set(row, { tree: at, chain: list.length, start });
    list.push(chain);
    names.push(row);
  }
  return { trees, members };
}

export function treeRlSpans(
  { rows }: CreditBatch,
  options: CreditOptions["treerl"] = {},
): CreditSpan[][] {
  const { leaves, balance, seed = 1, punishCut = true, ...rest } = options;
  const out: CreditSpan[][] = rows.map(() => []);
  const find = rowFinder(rows);
  for (const own of prompts(rows)) {
    const { trees, members } = chainsOf(rows, own);
    const all = trees.flat().length;
    const { group } = rows[own[0]!]!;
    const random = Random.from(seed).split("treerl").split(group);
    const right = (order: readonly { tree: number; chain: number }[]) =>
      order.map(({ tree, chain }) => trees[tree]![chain]!.score > 0);
    const first = treeRlPaths(trees, rest);
    const trained =
      leaves === undefined || leaves >= all
        ? undefined
        : chooseLeaves(right(first.forest.chains), leaves, random, balance);
    const { forest, paths } = trained ? treeRlPaths(trees, { ...rest, trained }) : first;
    paths.forEach((path, i) => {
      const { tree, chain } = forest.chains[trained ? trained[i]! : i]!;
      const row = members[tree]![chain]!;
      let start = 0;
      out[row] = path.flatMap(({ tokens, sum }) => {
        const span = { start, end: start + tokens, sum };
        start += tokens;
        return tokens > 0 ? [span] : [];
      });
      if (punishCut && wasCut(rows[row]!)) {
        const terms = [{ name: "cut before its end", value: -1 }];
        out[row] = [{ start: 0, end: rows[row]!.length, sum: { terms, factors: [] } }];
      }
    });
  }
  rows.forEach(({ tree, scored }, row) => {
    const same = find(tree, scored.trajectory.row);
    if (same !== row) out[row] = out[same]!;
  });
  return out;
}
