import { element, tableRow } from "../../../page/element.js";
import type { TreeFacts } from "../tree/tree-facts.js";
import { many, signed } from "../tree/words.js";

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
    score == null ? "" : String(Number(score.toPrecision(3))),
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
      const body = element("tbody");
      rows.forEach((row, i) => {
        const button = element("button", { type: "button", class: "ax-link" }, row[0]);
        button.setAttribute("aria-label", `Select trajectory ${i}`);
        button.onclick = () => select(i);
        body.append(tableRow("td", [button, ...row.slice(1)]));
      });
      const head = element("thead", {}, tableRow("th", heads!));
      for (const cell of head.querySelectorAll("th")) cell.scope = "col";
      const table = element("table", { class: "ax-table" }, head, body);
      const scroll = element(
        "div",
        { class: "ax-table-scroll", tabindex: "0", role: "group" },
        table,
      );
      scroll.setAttribute("aria-label", "Table of trajectories");
      box.append(scroll);
    },
    { once: true },
  );
  return box;
}
