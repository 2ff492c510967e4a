import { writeFile } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import {
  type Known,
  knowing,
  numbersOf,
  type Stretch,
  stretchesOf,
  type KnownOptions,
  knownRules,
} from "./stretches.js";

/** The steps before the model's first: a chat as it was asked, or the prompt's text. */
function promptSteps({ task, prompt }: RolloutTree) {
  if (typeof task.prompt === "string") return [{ source: "user", message: prompt.text }];
  // What a template calls otherwise (a tool, an assistant's turn) is context that nobody trains on.
  return task.prompt.map(({ role, content }) =>
    role === "system" || role === "user"
      ? { source: role, message: content }
      : { source: "agent", message: content, is_copied_context: true },
  );
}

function agentStep(
  { prompt }: RolloutTree,
  row: Trajectory,
  part: Stretch,
  answer: Stretch | undefined,
  { advantages }: Known,
) {
  const ids = [...row.tokens.subarray(part.from, part.to)];
  const before = [...prompt.tokens, ...row.tokens.subarray(0, part.from)];
  const extra = defined({
    entropies: numbersOf(row.entropies, part),
    advantages: numbersOf(advantages, part),
  });
  const id = `call_${part.to}`;
  return {
    source: "agent",
    message: part.text,
    ...(answer && {
      tool_calls: [
        {
          tool_call_id: id,
          function_name: answer.tag ?? "tool",
          arguments: { input: answer.input ?? "" },
        },
      ],
      observation: { results: [{ source_call_id: id, content: answer.text }] },
    }),
    metrics: {
      ...{ prompt_tokens: before.length, completion_tokens: ids.length },
      ...{ prompt_token_ids: before, completion_token_ids: ids },
      ...defined({ logprobs: numbersOf(row.logprobs, part) }),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
    llm_call_count: 1,
  };
}

function trajectoryOf(tree: RolloutTree, row: Trajectory, known: Known) {
  const stretches = stretchesOf(tree, row);
  const last = stretches.at(-1);
  const own = stretches.flatMap((part, i) => {
    if (part.by !== "model") return [];
    const next = stretches[i + 1];
    return [agentStep(tree, row, part, next?.by === "tool" ? next : undefined, known)];
  });
  const steps = [...promptSteps(tree), ...own].map((step, i) => ({ step_id: i + 1, ...step }));
  const written = own.reduce((sum, { metrics }) => sum + metrics.completion_tokens, 0);
  const { groundTruth } = tree.task as { groundTruth?: unknown };
  const name = `${tree.seed}-${tree.index}-${row.id}`;
  return {
    schema_version: "ATIF-v1.8",
    ...{ session_id: name, trajectory_id: name },
    agent: { name: "arpo-lab", version: "1", model_name: tree.policy },
    steps,
    final_metrics: { total_completion_tokens: written, total_steps: steps.length },
    extra: {
      arpo_lab: {
        ...{ trajectory: row.id, kind: row.kind, parent: row.parent, end: row.end },
        // What follows the model's last token: no later step has it in its prompt.
        ...(last?.by === "tool" && {
          tail_token_ids: [...row.tokens.subarray(last.from, last.to)],
        }),
        ...defined({ reward: known.score, reason: known.reason }),
        ...(typeof groundTruth === "string" ? { ground_truth: groundTruth } : {}),
      },
    },
  };
}

/**
 * Writes trees as ATIF 1.8, one trajectory a line (`.jsonl`), or the one there is (`.json`): ids, log-probs, entropies
 * and advantages of every step, and tool calls with their results. `importRollouts` reads them to the same tokens.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { importRollouts, saveAtif } from "arpo-lab/experimental/import";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const folder = await mkdtemp(join(tmpdir(), "atif-"));
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 2, seed: 1 });
 * await saveAtif([tree], join(folder, "trajectories.jsonl"));
 * const read = await importRollouts(folder);
 * assert.deepEqual(read.tree(0).trajectories[0].tokens, tree.trajectories[0].tokens);
 * await rm(folder, { recursive: true });
 * ```
 */
export async function saveAtif(
  trees: Iterable<RolloutTree>,
  path: string,
  options: KnownOptions = {},
): Promise<void> {
  checkArguments("save ATIF", { trees, path }, { trees: "items", path: "path" });
  checkOptions("save ATIF", options, knownRules);
  const known = knowing(options);
  const all = [...trees].flatMap((tree) =>
    tree.trajectories.map((row) => trajectoryOf(tree, row, known(row))),
  );
  if (!path.endsWith(".jsonl") && !(path.endsWith(".json") && all.length === 1)) {
    throw new RangeError(
      `Cannot save ATIF: the file name must end in .jsonl, or in .json for one trajectory, got ${path} for ${all.length}`,
    );
  }
  await writeFile(path, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
}
