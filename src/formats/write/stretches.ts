import type { OptionRules } from "../../../common/options/check-options.js";
import { TrainingBatch } from "../../learn/batch.js";
import { Scored } from "../../reward/scored.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";

/** What is known of trees besides their tokens. */
export interface KnownOptions {
  /** Scores of the rows. Default: what their environments say. */
  scored?: Scored;
  /** Advantages of the rows; its scores are used where `scored` is not given. */
  batch?: TrainingBatch;
}

export const knownRules: OptionRules<KnownOptions> = {
  scored: { must: "a Scored", holds: (value) => value instanceof Scored },
  batch: { must: "a TrainingBatch", holds: (value) => value instanceof TrainingBatch },
};

/** A span of a row, as a message of a trace. */
export interface Stretch {
  by: "model" | "tool";
  text: string;
  from: number;
  to: number;
  tag?: string;
  /** What a tool was asked. */
  input?: string;
  /** When it was made, in milliseconds since the rollout began; not known of imported trees. */
  run?: { start: number; end: number };
}

/** A row in spans of one writer: what a branch cut in two is one again. */
export function stretchesOf(tree: RolloutTree, row: Trajectory): Stretch[] {
  const stretches: Stretch[] = [];
  let at = 0;
  for (const id of row.nodes) {
    const { kind, tokens, text, tool, run } = tree.nodes[id]!;
    const by = kind === "model" ? "model" : "tool";
    const to = Math.min(at + tokens.length, row.tokens.length);
    if (to === at) continue;
    const cut = to - at < tokens.length ? (tree.cutTexts[row.id] ?? "") : text;
    const last = stretches.at(-1);
    if (last && last.by === by && !tool) {
      last.text += cut;
      last.to = to;
      if (last.run && run) last.run = { start: last.run.start, end: run.end };
    } else {
      const words = tool && to - at === tokens.length ? tool.text : cut;
      stretches.push({
        by,
        text: words,
        from: at,
        to,
        ...(tool ? { tag: tool.tag, input: tool.input } : {}),
        ...(run && { run: { start: run.start, end: run.end } }),
      });
    }
    at = to;
  }
  return stretches;
}

/** Numbers of a span; nothing where one is not known. */
export function numbersOf(
  values: Float32Array | undefined,
  { from, to }: Stretch,
): number[] | undefined {
  const own = values && [...values.subarray(from, to)];
  return own?.every(Number.isFinite) ? own : undefined;
}

/** What is known of a row besides its tokens. */
export interface Known {
  score?: number | undefined;
  parts?: Readonly<Record<string, number>> | undefined;
  reason?: string | undefined;
  advantages?: Float32Array | undefined;
}

/** A row's key among all rows. */
const keyOf = ({ tree, id }: Trajectory) => `${tree}:${id}`;

/** What is known of every row: its score, from what was given or from its environment, and its advantages. */
export function knowing({ scored, batch }: KnownOptions): (row: Trajectory) => Known {
  const byKey = <T extends { trajectory: Trajectory }>(all: readonly T[] = []) =>
    new Map(all.map((one) => [keyOf(one.trajectory), one]));
  const scores = byKey((scored ?? batch?.scored)?.trajectories);
  const learned = byKey(batch?.trajectories);
  return (row) => {
    const found = scores.get(keyOf(row))?.score ?? row.outcome;
    const own = learned.get(keyOf(row));
    return {
      score: found?.score ?? own?.reward,
      ...{ parts: found?.parts, reason: found?.reason, advantages: own?.advantages },
    };
  };
}
