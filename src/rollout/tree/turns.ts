import { checkArguments } from "../../arguments/check-arguments.js";
import { defined } from "../../arguments/defined.js";
import type { Trajectory } from "./trajectory.js";
import type { RolloutTreeData } from "./tree-data.js";
import type { NodeTool } from "./tree-values.js";

/** A turn of a trajectory: a tool's answer, if one stands before it, and what the model wrote next. */
export interface Turn {
  /** The turn's tokens, from `start` up to but without `end`. */
  start: number;
  end: number;
  /** Its nodes; a turn that the response length cuts off may have tokens of the first alone. */
  nodes: number[];
  /** The answer it begins with; the first turn begins with the prompt. */
  result?: NodeTool;
  /** The call it ends with, as it was answered. */
  call?: NodeTool;
}

/**
 * The turns of a trajectory, in order: a new one begins with every tool result.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { turnsOf } from "arpo-lab/experimental/learn";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const policy = new ScriptedPolicy(({ turn }) => ({
 *   text: turn === 0 ? "<calc>6*7</calc>" : "42\u0001",
 * }));
 * const options = { n: 1, tools: new ToolSet([calculator()]) };
 * const tree = await rollout(policy, { prompt: "6*7?" }, options);
 * const [ask, answer] = turnsOf(tree, tree.trajectories[0]);
 * assert.deepEqual([ask.call?.text, answer.result?.text, answer.call], ["42", "42", undefined]);
 * ```
 */
export function turnsOf(
  tree: Pick<RolloutTreeData, "nodes">,
  trajectory: Pick<Trajectory, "nodes" | "tokens">,
): Turn[] {
  checkArguments(
    "find turns",
    { tree, trajectory },
    { tree: { nodes: "list" }, trajectory: { nodes: "list", tokens: "list" } },
  );
  const length = trajectory.tokens.length;
  const turns: Turn[] = [{ start: 0, end: 0, nodes: [] }];
  let at = 0;
  for (const id of trajectory.nodes) {
    const { kind, tokens, tool } = tree.nodes[id]!;
    let turn = turns.at(-1)!;
    if (kind === "tool") {
      if (tool) turn.call = tool;
      turn = { start: at, end: at, nodes: [], ...defined({ result: tool }) };
      turns.push(turn);
    }
    turn.nodes.push(id);
    at = Math.min(length, at + tokens.length);
    turn.end = at;
  }
  return turns;
}
