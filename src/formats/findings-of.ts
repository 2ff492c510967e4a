import type { Finding } from "../reward/findings/definition.js";
import { findIn } from "../reward/findings/diagnose.js";
import type { TokenRow } from "../reward/findings/token-rows.js";
import type { ScoredTrajectory } from "../reward/scored.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import type { ImportedRollouts } from "./imported-rollouts.js";
import { WordTokenizer } from "./trees/segments.js";

/** What is looked through: every token is tokenized again, so that a large file is not looked through to its end. */
const [mostRows, mostTokens] = [2000, 4_000_000];

/** What was found in an import, and how much of it was looked through. */
export interface ImportFindings {
  findings: readonly Finding[];
  /** Trajectories that were looked through, and those there are. */
  checked: number;
  of: number;
  /** Trajectories of ids that nobody here reads: whether these change with their text is not known. */
  unread: number;
}

/** The trajectories of one prompt as the checks of tokens read them. */
function rowsOf(imported: ImportedRollouts, index: number): TokenRow[] {
  const tree = imported.tree(index) as unknown as RolloutTree;
  const { rows, id } = imported.prompts[index]!;
  const batch = imported.batchOf(index);
  const advantages = new Map(
    batch?.trajectories.map((one) => [one.trajectory.id, one.advantages] as const),
  );
  const { tokenizer } = tree;
  return tree.selected.map((trajectory): TokenRow => {
    const row = rows[trajectory.id];
    const own = advantages.get(trajectory.id);
    return {
      ...{ group: id, tree, trajectory },
      // Words are no model's tokens, and tokens all the same: they are counted and marked.
      tokenizer,
      hasIds:
        !(tokenizer instanceof WordTokenizer) &&
        (row === undefined || row.parts.some(({ tokens }) => tokens !== undefined)),
      // Ids come with a mask, and the roles of a chat are one.
      hasMask:
        row === undefined ||
        row.messages !== undefined ||
        row.parts.some(({ tokens, pieces }) => (tokens ?? pieces) !== undefined),
      ...(own ? { advantages: own } : {}),
    };
  });
}

const made = new WeakMap<ImportedRollouts, ImportFindings>();

/**
 * What is found in other people's rollouts: in their scores, their answers and their tokens. Looked for once; each
 * place names its prompt's number as `tree`.
 */
export function findingsOf(imported: ImportedRollouts): ImportFindings {
  const known = made.get(imported);
  if (known) return known;
  const rows: TokenRow[] = [];
  const scored: ScoredTrajectory[] = [];
  const trees: RolloutTree[] = [];
  let [tokens, of] = [0, 0];
  for (const { index, rows: own } of imported.prompts) {
    of += own.length || imported.tree(index).trajectories.length;
    if (rows.length >= mostRows || tokens >= mostTokens) continue;
    const added = rowsOf(imported, index);
    rows.push(...added);
    tokens += added.reduce((sum, { trajectory }) => sum + trajectory.tokens.length, 0);
    trees.push(imported.tree(index) as unknown as RolloutTree);
    for (const one of imported.scoredOf(index)?.trajectories ?? []) {
      // Where a file gives no reason its line stands there: no reason that trajectories have in common.
      const isTold = typeof own[one.trajectory.id]?.extra?.["reason"] === "string";
      scored.push(isTold ? one : { ...one, score: { ...one.score, reason: "" } });
    }
  }
  const unread = rows.filter(({ tokenizer }) => tokenizer === undefined).length;
  const found = { findings: findIn({ scored, trees, rows }), checked: rows.length, of, unread };
  made.set(imported, found);
  return found;
}

/** What was looked through, in words. */
export function lookedThrough({ checked, of, unread }: ImportFindings): string {
  const all = of === 1 ? "1 trajectory" : `${of} trajectories`;
  const part = checked < of ? `the first ${checked} of ${all}` : all;
  const blind =
    unread > 0
      ? `; ${unread} with ids that no tokenizer reads here, so that their tokens are checked by text alone`
      : "";
  return `${part}${blind}`;
}

/** The findings in lines: what each is, and the first trajectories that show it. */
export function findingLines(found: ImportFindings): string {
  const { findings } = found;
  const begin = `findings in ${lookedThrough(found)}`;
  if (findings.length === 0) return `${begin}: none`;
  const lines = findings.map(({ kind, message, where }) => {
    const shown = where.slice(0, 5).map(({ tree, row }) => `${tree + 1}.${row}`);
    const more = where.length > shown.length ? ` and ${where.length - shown.length} more` : "";
    return `  ${kind}: ${message}\n    prompt.trajectory ${shown.join(", ")}${more}`;
  });
  return [`${begin}:`, ...lines].join("\n");
}
