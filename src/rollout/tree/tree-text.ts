import { ruleOf } from "../settings.js";
import type { RolloutTreeData } from "./tree-data.js";

/** A tree in a few lines: what it is, and what became of each row. */
export function treeText({ rows, nodes, config, origin }: RolloutTreeData): string {
  const branches = rows.filter((row) => row.kind === "branch").length;
  const head = `RolloutTree: ${rows.length} rows (${branches} branches), ${nodes.length} nodes, seed ${config.seed}, ${ruleOf(config)}`;
  const lines = rows.map((row) => {
    const from = row.kind === "branch" ? `branch of ${row.parent}` : row.kind;
    const text = nodes.flatMap((node) => (node.row === row.row ? [node.text] : [])).join("");
    return `  ${row.row} ${from}, ${row.calls} calls, ${row.end}: ${short(text, 72)}`;
  });
  const fork = origin ? [`  forked after token ${origin.at} of node ${origin.node}`] : [];
  return [head, ...fork, ...lines].join("\n");
}

function short(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
