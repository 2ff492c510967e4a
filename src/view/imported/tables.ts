import { escapeHtml as escape } from "../../../picture/escape.js";
import type { ImportedPrompt, ImportedRollouts } from "../../import/imported-rollouts.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";

const shortest = (text: string, length: number) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

/** What the files carry, and what stands in the place of what they do not. */
export function tableOfCarried({ carried }: ImportedRollouts): string {
  const rows = carried.map(
    ({ quantity, from }) =>
      `<tr><th scope="row">${escape(quantity)}</th><td>${escape(from)}</td></tr>`,
  );
  return `<div class="arpo-wide" tabindex="0"><table><caption>What the files carry</caption><tbody>${rows.join("")}</tbody></table></div>`;
}

/** What could not be read, or was not kept. */
export function notices({ broken, left, rows, files, prompts }: ImportedRollouts): string {
  const unread = files.filter(({ format }) => format === undefined);
  const told = [
    ...(left > 0
      ? [`${left} of ${rows} rows are counted in the curves only: no tree is made of them.`]
      : []),
    ...(prompts.length === 0 ? ["The files hold numbers of rollouts, and no texts."] : []),
    ...broken.map(({ file, line, reason }) => `Broken: ${file}, line ${line}: ${reason}`),
    ...(unread.length > 0
      ? [`No rollouts in ${shortest(unread.map(({ path }) => path).join(", "), 300)}`]
      : []),
  ];
  return told.map((text) => `<p class="arpo-notice">${escape(text)}</p>`).join("");
}

const number = (value: number | undefined) =>
  value === undefined ? "–" : String(Number(value.toPrecision(4)));

/** A prompt's rows: score and its parts, how each ended, where it stands, its last words. */
export function rowTable({ rows, question }: ImportedPrompt, tree: RolloutTree): string {
  const { groundTruth } = tree.task as { groundTruth?: string | readonly string[] };
  const asked =
    `<p>${escape(shortest(question, 400))}</p>` +
    (groundTruth === undefined
      ? ""
      : `<p>Right: ${escape(shortest([groundTruth].flat().join(" or "), 200))}</p>`);
  if (rows.length === 0) return asked;
  const parts = [...new Set(rows.flatMap((row) => Object.keys(row.numbers ?? {})))].slice(0, 8);
  const heads = ["row", "score", ...parts, "ended", "calls", "from", "its last words"];
  const lines = rows.map((row, i) => {
    const cells = [
      String(i),
      number(row.score),
      ...parts.map((name) => number(row.numbers?.[name])),
    ];
    const { end, calls } = tree.trajectories[i]!;
    const path = tree.path(tree.trajectories[i]!.leaf);
    const said = path.slice(path.findLastIndex(({ kind }) => kind === "tool") + 1);
    const text = said.map((node) => node.text).join("");
    const from = `${row.place.file.split(/[\\/]/).at(-1)}:${row.place.line}`;
    const numbers = cells.map((cell) => `<td class="arpo-number">${escape(cell)}</td>`);
    const words = [
      row.end === undefined ? "–" : end,
      String(calls),
      from,
      shortest(text.slice(-200), 120),
    ];
    return `<tr>${numbers.join("")}${words.map((cell) => `<td class="arpo-words">${escape(cell)}</td>`).join("")}</tr>`;
  });
  return `${asked}<div class="arpo-wide" tabindex="0"><table><thead><tr>${heads.map((head) => `<th scope="col">${escape(head)}</th>`).join("")}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
}
