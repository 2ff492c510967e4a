import type { RolloutTree } from "../../../rollout/rollout-tree.js";
import type { TreeRecord } from "../tree-record.js";

const messagesOf = ({ task }: RolloutTree): TreeRecord["messages"] =>
  typeof task.prompt === "string" ? [{ role: "user", content: task.prompt }] : [...task.prompt];

/** The record that verl's loop would write of a tree; nodes in the order they came into being. */
export function recordOf(tree: RolloutTree, step: number, index: number): TreeRecord {
  const order = [...tree.nodes].sort((a, b) => a.round - b.round || a.id - b.id);
  const at = new Map([[-1, -1], ...order.map(({ id }, i): [number, number] => [id, i])]);
  const nodes = order.map((node): TreeRecord["nodes"][number] => {
    const { parent, kind, trajectory, round, tokens, text, logprobs, entropy, finish, stop } = node;
    return {
      ...{ parent: at.get(parent)!, kind, row: trajectory, round, tokens: [...tokens], text },
      ...{ logprobs: [...logprobs], entropy, stop },
      finish: finish === "context" ? "length" : finish,
      branch: node.branch?.map(
        ({
          trajectory: row,
          round,
          attempt,
          remaining,
          u,
          entropy,
          baseline,
          consecutive,
          child,
        }) => ({
          ...{ row, round, attempt, remaining, u, entropy, baseline, consecutive, child },
        }),
      ),
    };
  });
  return {
    ...{ uid: `tree-${index}`, step, index, seed: tree.config.seed, eos: 1, pad: null },
    ...{
      measure: ["surprisal"],
      messages: messagesOf(tree),
      ground_truth: "42",
      id: `task-${index}`,
    },
    prompt: { text: tree.prompt.text, tokens: [...tree.prompt.tokens] },
    nodes,
    rows: tree.trajectories.map(({ id, kind, round, parent, from, leaf, end, calls }) => ({
      ...{ row: id, kind, round, parent, calls, origin: at.get(from)!, leaf: at.get(leaf)! },
      end: end === "length" ? "length" : "answer",
    })),
    monitor: tree.monitor ?? null,
    cuts: tree.trajectories.map(({ id }) => tree.cutTexts[id] ?? null),
  };
}
