import { element, fromHtml } from "../../../page/element.js";
import type { TreeFacts } from "../tree/tree-facts.js";
import { table } from "../../../page/table.js";
import { many, numberText, signed } from "../../../page/words.js";

/** One line per trajectory, after one of heads. */
export function tableRows(facts: TreeFacts): string[][] {
  const { tree, answers, advantages, verdicts } = facts;
  const heads = [
    "trajectory",
    "starts from",
    "tool calls",
    "ends by",
    "answer",
    "outcome",
    "score",
    "advantage",
  ];
  const rows = tree.trajectories.map(({ kind, parent, from, end, calls, score }, i) => [
    String(i),
    kind === "branch"
      ? `trajectory ${parent}${from >= 0 ? `, after turn ${facts.turn[from]! + 1}` : ""}`
      : "the prompt",
    ...[String(calls), end, answers[i]!, verdicts[i] ?? ""],
    score == null ? "" : numberText(score, 3),
    advantages[i] === undefined ? "" : signed(advantages[i]),
  ]);
  return [heads, ...rows];
}

/** The tree as a table, for screen readers and everybody else. */
export function trajectoryTable(
  facts: TreeFacts,
  select: (trajectory: number) => void,
): HTMLElement {
  const box = element(
    "details",
    { class: "ax-trajectories" },
    element(
      "summary",
      {},
      `Table of ${many(facts.tree.trajectories.length, "trajectory", "trajectories")}`,
    ),
  );
  // Made when it is first opened: a page may hold many trees.
  box.addEventListener(
    "toggle",
    () => {
      const [heads, ...rows] = tableRows(facts);
      const button = (i: number) =>
        `<button type="button" class="ax-link" aria-label="Select trajectory ${i}">${i}</button>`;
      const cells = rows.map(([, ...rest], i) => [{ html: button(i), isNumber: true }, ...rest]);
      const shown = fromHtml(table(cells, heads, { attributes: ' class="ax-table"' }));
      shown.querySelectorAll("button").forEach((one, i) => (one.onclick = () => select(i)));
      const scroll = element("div", { class: "ax-table-scroll", tabindex: "0", role: "group" });
      scroll.setAttribute("aria-label", "Table of trajectories");
      scroll.append(shown);
      box.append(scroll);
    },
    { once: true },
  );
  return box;
}
