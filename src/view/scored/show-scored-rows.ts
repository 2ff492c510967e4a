import { program } from "#pages/scored";
import type { Scored, ScoredTrajectory } from "../../reward/scored.js";
import { trajectoryText } from "./trajectory-text.js";
import { escapeHtml } from "../../../common/picture/escape.js";
import { header } from "../page/header.js";
import type { RowFacts } from "../page/row-search.js";
import { searchBar } from "../page/search-bar.js";
import { type Cell, table, wide } from "../page/table.js";
import { View } from "../page/view.js";
import { numberText } from "../page/words.js";
import { scoredPicture } from "./scored-picture.js";

const style = `
.arpo-scored .arpo-bar-of{display:inline-block;position:relative;width:90px;height:10px;background:var(--soft);border:1px solid var(--line);border-radius:3px;margin-right:8px}
.arpo-scored .arpo-bar-of i{position:absolute;top:0;bottom:0;border-radius:2px}
.arpo-scored .arpo-score{display:inline-block;min-width:6ch}
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

/** A score as a table writes it: its digits stand below each other. */
const fixed = (score: number): string => score.toFixed(3).replace("-", "−");

/** Trajectories shown before the rest is left to a click. */
const most = 200;

/** Scored trajectories as tables with bars, reasons, and responses to open. */
function scoredTables(scored: Scored): string {
  const { trajectories: rows } = scored;
  const values = rows.map(({ score }) => score.score);
  const low = values.reduce((a, b) => Math.min(a, b), 0);
  const high = values.reduce((a, b) => Math.max(a, b), 0);
  const at = (value: number) => (high > low ? (100 * (value - low)) / (high - low) : 0);
  const bar = (value: number) => {
    const [from, to] = [Math.min(at(0), at(value)), Math.max(at(0), at(value))];
    const colour = `var(--${value < 0 ? "wrong" : "right"})`;
    return `<span class="arpo-bar-of"><i style="left:${from.toFixed(1)}%;width:${(to - from).toFixed(1)}%;background:${colour}"></i></span>`;
  };
  const parts = [...new Set(rows.flatMap(({ score }) => Object.keys(score.parts ?? {})))];
  const oneTask = tasksOf(scored).size === 1;
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
  const line = ({ trajectory, group, score }: ScoredTrajectory): Cell[] => {
    const { toolCalls, tokens, end, id: row } = trajectory;
    const failed = toolCalls.filter(({ ok }) => !ok).length;
    return [
      ...(oneTask ? [] : [group]),
      String(row),
      {
        html: `${bar(score.score)}<span class="arpo-score">${fixed(score.score)}</span>`,
        isNumber: true,
      },
      ...parts.map((part) => numberText(score.parts?.[part], 3)),
      // An answer is a text, also where it is a number.
      { html: escapeHtml(score.answer ?? "–") },
      `${toolCalls.length}${failed > 0 ? ` (${failed} failed)` : ""}`,
      String(tokens.length),
      end,
      {
        html: `<details><summary>${escapeHtml(score.reason)}</summary><pre>${trajectoryText(scored, trajectory)}</pre></details>`,
      },
    ];
  };
  const shown = (list: readonly ScoredTrajectory[]) => {
    const attributes = ` style="--columns:${heads.length - 1}"`;
    return wide("scores", table(list.map(line), heads, { attributes }));
  };
  const rest = rows.slice(most);
  const more =
    rest.length > 0
      ? `<details data-rest><summary>${rest.length} more</summary>${shown(rest)}</details>`
      : "";
  return shown(rows.slice(0, most)) + more;
}

/** So few are read faster than they are searched. */
const leastToSearch = 6;

/** What a search knows of a trajectory. */
const factsOf = ({ trajectory, score }: ScoredTrajectory): RowFacts => [
  score.score,
  trajectory.end,
  [...new Set(trajectory.toolCalls.map(({ tag }) => tag.slice(0, 80)))],
];

const tasksOf = ({ trajectories }: Scored) => new Set(trajectories.map(({ group }) => group));

/** Scored trajectories to read; shows itself. */
class ScoredView extends View<Scored> {
  protected override readonly page = { name: "scored", style, program };

  constructor(
    scored: Scored,
    readonly heading?: string,
  ) {
    super(scored);
  }

  override get summary(): string {
    return String(this.payload);
  }

  get title(): string {
    const { trajectories, mean } = this.payload;
    const tasks = tasksOf(this.payload);
    const of = tasks.size === 1 ? ` of ${[...tasks].join("")}` : "";
    return this.heading ?? `${trajectories.length} trajectories${of}, mean score ${fixed(mean)}`;
  }

  override picture(): string {
    return scoredPicture(this.payload, this.title);
  }

  protected override still(): string {
    const { trajectories } = this.payload;
    const facts = trajectories.map(factsOf);
    const search =
      trajectories.length < leastToSearch
        ? ""
        : `<p class="arpo-bar" data-search>${searchBar({
            tools: facts.flatMap(([, , tools]) => tools),
            ends: facts.map(([, end]) => end ?? ""),
            hasScores: true,
          })}</p>`;
    return (
      header(this.title, "open a reason to read the response") + search + scoredTables(this.payload)
    );
  }

  protected override data() {
    return { facts: this.payload.trajectories.map(factsOf) };
  }
}

/** The forms of scored trajectories; `heading` in the place of their count. */
export const showScoredRows = (scored: Scored, heading?: string): Record<string, string> =>
  new ScoredView(scored, heading).bundle();
