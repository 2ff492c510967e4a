import { escapeHtml } from "../../../common/picture/escape.js";

/** Different tools or ends that can be chosen. */
const most = 100;

/** What can be looked for in trajectories: a tool, an end, scores from and to, a text or an expression. A program makes it work. */
export function searchBar({
  tools,
  ends,
  hasScores,
}: {
  tools: readonly string[];
  ends: readonly string[];
  hasScores: boolean;
}): string {
  const among = (name: string, label: string, names: readonly string[]) => {
    const own = [...new Set(names)].filter((one) => one !== "").sort();
    const listed = own.slice(0, most).map((one) => `<option>${escapeHtml(one)}</option>`);
    return own.length === 0
      ? ""
      : `<label>${label} <select data-choose="${name}" disabled><option value="">all</option>${listed.join("")}</select></label> `;
  };
  const bound = (name: string, label: string) =>
    `<label>${label} <input type="number" step="any" size="5" data-choose="${name}" disabled></label> `;
  return (
    among("tool", "tool", tools) +
    among("end", "ended", ends) +
    (hasScores ? bound("least", "score from") + bound("most", "to") : "") +
    `<label>with the text or /expression/ <input type="search" maxlength="200" data-choose="words" disabled></label> <output data-count></output>`
  );
}
