import { writeFile } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import type { ScorableTask } from "../../reward/score-trees.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import {
  type Known,
  knowing,
  numbersOf,
  stretchesOf,
  type KnownOptions,
  knownRules,
} from "./stretches.js";

export interface TraceOptions extends KnownOptions {
  /** What the task's data says beside its prompt. Default: the task's own fields. */
  taskOf?: (tree: RolloutTree) => object;
}

const stops: Record<TrajectoryEnd, string> = {
  answer: "agent_completed",
  done: "agent_completed",
  "bad-call": "agent_completed",
  "call-limit": "max_turns",
  length: "max_output_tokens",
  context: "max_total_tokens",
};

function nodesOf(tree: RolloutTree, row: Trajectory, advantages: Float32Array | undefined) {
  const { text, tokens } = tree.prompt;
  const prompt = {
    message: { role: "user", content: text },
    sampled: false,
    token_ids: [...tokens],
    mask: Array.from(tokens, () => false),
    logprobs: [],
  };
  const stretches = stretchesOf(tree, row);
  const following = stretches.map((stretch, i) => {
    const { by, text: content, from, to, tag } = stretch;
    const ids = [...row.tokens.subarray(from, to)];
    const sampled = by === "model";
    const message = sampled
      ? { role: "assistant", content }
      : { role: "tool", tool_call_id: `call_${i}`, content, ...defined({ name: tag }) };
    return {
      ...{ parent: i, message, sampled, token_ids: ids, mask: ids.map(() => sampled) },
      ...(sampled
        ? {
            logprobs: numbersOf(row.logprobs, stretch) ?? [],
            ...defined({
              entropies: numbersOf(row.entropies, stretch),
              advantages: numbersOf(advantages, stretch),
            }),
          }
        : { logprobs: [] }),
    };
  });
  return [prompt, ...following];
}

function episodeOf(
  tree: RolloutTree,
  known: (row: Trajectory) => Known,
  taskOf: TraceOptions["taskOf"],
) {
  const { groundTruth, ...own } = tree.task as RolloutTree["task"] & Partial<ScorableTask>;
  const given: { id?: unknown } = taskOf?.(tree) ?? {
    ...own,
    ...defined({ answer: groundTruth }),
  };
  const key = own.id ?? String(tree.index);
  const task = {
    type: "Task",
    data: {
      ...given,
      prompt: tree.prompt.text,
      ...(given.id === undefined ? {} : { id: String(given.id) }),
    },
    key,
  };
  const name = `${key}-${tree.seed}-${tree.index}`;
  const traces = tree.trajectories.map((row) => {
    const { score, parts, reason, advantages } = known(row);
    return {
      version: 1,
      id: `${name}-${row.id}`,
      task,
      agent: { config: { model: tree.policy }, name: "agent", trainable: true },
      nodes: nodesOf(tree, row, advantages),
      rewards: score === undefined ? {} : { reward: { score, weight: 1 } },
      metrics: parts ?? {},
      info: {
        row: row.id,
        kind: row.kind,
        parent: row.parent,
        ...defined({ reason }),
      },
      is_completed: true,
      ok: true,
      stop_condition: stops[row.end],
    };
  });
  return { id: name, env: { id: "arpo-lab" }, task, group: { id: key }, ok: true, traces };
}

/**
 * Writes trees as traces of verifiers (Trace 1): an episode for each tree, a trace for each row, with ids,
 * masks, log-probs, entropies and, from a batch, advantages. Rows need not share a model with the reader:
 * ids say what was read and written, token by token.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, readFile, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { saveTraces } from "arpo-lab/experimental/import";
 * import { advantages, score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const folder = await mkdtemp(join(tmpdir(), "traces-"));
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 2, seed: 1 });
 * const batch = advantages(await score(tree, ({ length }) => length));
 * await saveTraces([tree], join(folder, "traces.jsonl"), { batch });
 * const [line] = (await readFile(join(folder, "traces.jsonl"), "utf8")).split("\n");
 * assert.equal(JSON.parse(line).traces.length, 2);
 * await rm(folder, { recursive: true });
 * ```
 */
export async function saveTraces(
  trees: Iterable<RolloutTree>,
  path: string,
  options: TraceOptions = {},
): Promise<void> {
  checkArguments("save traces", { trees, path }, { trees: "items", path: "path" });
  checkOptions("save traces", options, { ...knownRules, taskOf: "function?" });
  if (!path.endsWith(".jsonl")) {
    throw new RangeError(`Cannot save traces: the file name must end in .jsonl, got ${path}`);
  }
  let text = "";
  const known = knowing(options);
  for (const tree of trees) text += `${JSON.stringify(episodeOf(tree, known, options.taskOf))}\n`;
  await writeFile(path, text);
}
