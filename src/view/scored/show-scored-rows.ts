import type { Scored, ScoredTrajectory } from "../../reward/scored.js";
import { trajectoryText } from "./trajectory-text.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import { widgetStyle } from "../page/style.js";
import { scoredPicture } from "./scored-picture.js";

const style = `
.arpo-scored .arpo-bar-of{display:inline-block;position:relative;width:90px;height:10px;background:var(--soft);border:1px solid var(--line);border-radius:3px;margin-right:8px}
.arpo-scored .arpo-bar-of i{position:absolute;top:0;bottom:0;border-radius:2px}
.arpo-scored.arpo-scored td{white-space:nowrap}
.arpo-scored.arpo-scored td:last-child{white-space:normal;min-width:240px}
.arpo-scored summary{cursor:pointer}
.arpo-scored td details pre{max-height:320px;min-width:min(560px,60vw)}
.arpo-scored .arpo-wide{container-type:inline-size}
@container (max-width:820px){
.arpo-scored .arpo-wide table{display:grid;grid-template-columns:repeat(var(--columns),auto)}
.arpo-scored .arpo-wide :is(thead,tbody,tr){display:grid;grid-column:1/-1;grid-template-columns:subgrid}
.arpo-view.arpo-scored td:not(:last-child),.arpo-view.arpo-scored th:not(:last-child){border-bottom:0;padding-bottom:0}
.arpo-scored :is(td,th):last-child{grid-column:1/-1}
.arpo-scored td details,.arpo-scored th:last-child{position:sticky;left:0;max-width:100cqi}
.arpo-scored td details pre{min-width:0}
}
@container (max-width:480px){
.arpo-scored .arpo-bar-of{display:none}
.arpo-view.arpo-scored td,.arpo-view.arpo-scored th{padding-right:8px}
}
.arpo-scored .arpo-tool{opacity:.75}
`;

/** Trajectories shown before the rest is left to a click. */
const most = 200;

/** Scored trajectories as a table with bars, reasons, and responses to open. */
export function showScoredRows(scored: Scored, heading?: string): Record<string, string> {
  const { trajectories: rows, mean } = scored;
  const values = rows.map(({ score }) => score.score);
  const low = values.reduce((a, b) => Math.min(a, b), 0);
  const high = values.reduce((a, b) => Math.max(a, b), 0);
  const at = (value: number) => (high > low ? (100 * (value - low)) / (high - low) : 0);
  const bar = (value: number) => {
    const [from, to] = [Math.min(at(0), at(value)), Math.max(at(0), at(value))];
    const colour = value < 0 ? "#3f87b5" : "#d9661f";
    return `<span class="arpo-bar-of"><i style="left:${from.toFixed(1)}%;width:${(to - from).toFixed(1)}%;background:${colour}"></i></span>`;
  };
  const parts = [...new Set(rows.flatMap(({ score }) => Object.keys(score.parts ?? {})))];
  const tasks = new Set(rows.map(({ group }) => group));
  const oneTask = tasks.size === 1;
  const heads = [
    ...(oneTask ? [] : ["task"]),
    "trajectory",
    "score",
    ...parts,
    "answer",
    "calls",
    "tokens",
    "end",
    "reason",
  ];
  const line = ({ trajectory, group, score }: ScoredTrajectory) => {
    const { toolCalls, tokens, end, id: row } = trajectory;
    const failed = toolCalls.filter(({ ok }) => !ok).length;
    const cells = [
      ...(oneTask ? [] : [escapeHtml(group)]),
      String(row),
      `${bar(score.score)}${score.score.toFixed(3)}`,
      ...parts.map((part) => String(Number((score.parts?.[part] ?? NaN).toPrecision(3)))),
      escapeHtml(score.answer ?? "–"),
      `${toolCalls.length}${failed > 0 ? ` (${failed} failed)` : ""}`,
      String(tokens.length),
      escapeHtml(end),
      `<details><summary>${escapeHtml(score.reason)}</summary><pre>${trajectoryText(scored, trajectory)}</pre></details>`,
    ];
    return `<tr>${cells.map((cell, i) => `<td${i === (oneTask ? 1 : 2) ? ' class="arpo-number"' : ""}>${cell}</td>`).join("")}</tr>`;
  };
  const title =
    heading ??
    `${rows.length} trajectories${oneTask ? ` of ${[...tasks].join("")}` : ""}, mean score ${mean.toFixed(3)}`;
  const table = (list: readonly ScoredTrajectory[]) =>
    `<div class="arpo-wide" tabindex="0" role="group" aria-label="scores"><table style="--columns:${heads.length - 1}"><thead><tr>${heads.map((head) => `<th>${escapeHtml(head)}</th>`).join("")}</tr></thead>` +
    `<tbody>${list.map(line).join("")}</tbody></table></div>`;
  const rest = rows.slice(most);
  const more =
    rest.length > 0
      ? `<details><summary>${rest.length} more</summary>${table(rest)}</details>`
      : "";
  const html =
    `<div class="arpo-view arpo-scored tex2jax_ignore mathjax_ignore"><style>${widgetStyle}${style}</style>` +
    `<div class="arpo-title"><b>${escapeHtml(title)}</b><span class="arpo-muted">open a reason to read the response</span></div>` +
    `${table(rows.slice(0, most))}${more}</div>`;
  return {
    "text/plain": String(scored),
    "text/html": html,
    "image/svg+xml": scoredPicture(scored, title),
  };
}
