import { defined } from "../../../common/options/defined.js";
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

/** The turns of a trajectory, in order: a new one begins with every tool result. */
export function turnsOf(
  tree: Pick<RolloutTreeData, "nodes">,
  trajectory: Pick<Trajectory, "nodes" | "tokens">,
): Turn[] {
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
