import type { Scored } from "./scored.js";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string) => text.replace(/[&<>"]/g, (c) => escapes[c]!);
const shorten = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** A table, one row per trajectory, with the reason of each score. */
export function showScored({ rows, mean }: Scored): Record<string, string> {
  const cells = rows.map(({ trajectory, group, score }) => [
    group,
    String(trajectory.row),
    score.score.toFixed(3),
    score.answer ?? "",
    String(trajectory.toolCalls.length),
    String(trajectory.tokens.length),
    trajectory.end,
    score.reason,
  ]);
  const head = ["task", "row", "score", "answer", "calls", "tokens", "end", "reason"];
  const title = `${rows.length} trajectories, mean score ${mean.toFixed(3)}`;
  const text = [
    title,
    head.join("\t"),
    ...cells.map((c) => c.map((v) => shorten(v, 60)).join("\t")),
  ];
  const line = (tag: string, values: string[]) =>
    `<tr>${values.map((v) => `<${tag} style="text-align:left">${escape(shorten(v, 200))}</${tag}>`).join("")}</tr>`;
  return {
    "text/plain": text.join("\n"),
    "text/html":
      `<table><caption>${escape(title)}</caption><thead>${line("th", head)}</thead>` +
      `<tbody>${cells.map((c) => line("td", c)).join("")}</tbody></table>`,
  };
}
