import { escapeHtml } from "../../../picture/escape.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";

/** Rows from top to bottom, tokens from left to right; the hotter a stretch, the more entropy. */
export function treePicture(tree: RolloutTree): string {
  const width = 720;
  const height = 22;
  const starts = new Map<number, number>([[-1, 0]]);
  for (const node of tree.nodes) {
    const start =
      node.parent < 0 ? 0 : starts.get(node.parent)! + tree.nodes[node.parent]!.tokens.length;
    starts.set(node.id, start);
  }
  const longest = Math.max(1, ...tree.nodes.map((n) => starts.get(n.id)! + n.tokens.length));
  const x = (token: number) => Math.round((token / longest) * width * 10) / 10;
  const hottest = Math.max(1e-9, ...tree.nodes.map((n) => n.entropy ?? 0));
  const marks: string[] = [];
  for (const row of tree.trajectories) {
    const y = row.id * height + 4;
    const from = tree.nodes[row.from];
    const above = row.kind === "branch" ? row.parent : (from?.trajectory ?? -1);
    if (from && above >= 0) {
      const at = x(starts.get(from.id)! + from.tokens.length);
      const stroke = row.kind === "branch" ? "#c33" : "#888";
      marks.push(
        `<path d="M${at} ${above * height + 11}V${y + 7}" stroke="${stroke}" fill="none"/>`,
      );
    }
    // What a fork took over has row -1; its first row shows it.
    const own = (n: TreeNode) => n.trajectory === row.id || (row.id === 0 && n.trajectory < 0);
    for (const node of tree.nodes.filter(own)) {
      const start = x(starts.get(node.id)!);
      const size = Math.max(1, x(node.tokens.length) - 1);
      const heat = Math.round(90 - 45 * ((node.entropy ?? 0) / hottest));
      const fill = node.kind === "tool" ? "#7a9" : `hsl(24 85% ${heat}%)`;
      const title = escapeHtml(
        `row ${node.trajectory}, node ${node.id}${node.entropy === undefined ? "" : `, entropy ${node.entropy.toFixed(3)}`}\n${node.text.slice(0, 200)}`,
      );
      marks.push(
        `<rect x="${start}" y="${y}" width="${size}" height="14" rx="2" fill="${fill}"><title>${title}</title></rect>`,
      );
    }
  }
  const label = escapeHtml(String(tree).split("\n")[0]!);
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${label}" viewBox="0 0 ${width} ${tree.trajectories.length * height + 4}" width="${width}">${marks.join("")}</svg>`;
}
