import { ruleOf } from "../settings.js";
import type { RolloutTreeData } from "./tree-data.js";

/** A tree in a few lines: what it is, and how each trajectory ended. */
export function treeText({ trajectories, nodes, config, origin }: RolloutTreeData): string {
  const branches = trajectories.filter(({ kind }) => kind === "branch").length;
  const head = `RolloutTree: ${trajectories.length} trajectories (${branches} branches), ${nodes.length} nodes, seed ${config.seed}, ${ruleOf(config)}`;
  const lines = trajectories.map(({ id, kind, parent, calls, end }) => {
    const from = kind === "branch" ? `branch of ${parent}` : kind;
    const text = nodes.flatMap((node) => (node.trajectory === id ? [node.text] : [])).join("");
    return `  ${id} ${from}, ${calls} calls, ${end}: ${short(text, 72)}`;
  });
  const fork = origin ? [`  forked after token ${origin.at} of node ${origin.node}`] : [];
  return [head, ...fork, ...lines].join("\n");
}

function short(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
