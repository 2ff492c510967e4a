import type { Scored } from "../../reward/scored.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { escapeHtml } from "../../../common/picture/escape.js";

/** Characters of a response that are kept. */
const most = 6000;

/** A response as HTML; what tools answered is set apart. */
export function trajectoryText({ trees }: Scored, trajectory: Trajectory): string {
  const tree = trees.find(({ index }) => index === trajectory.tree);
  if (!tree) return escapeHtml(cut(trajectory.text));
  let capacity = most;
  const parts = trajectory.nodes.map((id) => {
    const { kind, text } = tree.nodes[id]!;
    const shown = text.slice(0, Math.max(0, capacity));
    capacity -= text.length;
    const html = escapeHtml(shown);
    return kind === "tool" ? `<span class="arpo-tool">${html}</span>` : html;
  });
  return parts.join("") + (capacity < 0 ? `… ${-capacity} more characters` : "");
}

function cut(text: string): string {
  return text.length > most
    ? `${text.slice(0, most)}… ${text.length - most} more characters`
    : text;
}
