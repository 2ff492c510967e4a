import { element } from "../../page/element.js";
import { heatText } from "./heat-text.js";
import { rowTokens } from "./node-details.js";
import { pathOf, sharedTokens } from "./paths.js";
import type { ShownTree } from "./shown-tree.js";

/** The rows that are followed, as text side by side, from shortly before they part. */
export function trailOf({ tree, colouring, followed: rows }: ShownTree): HTMLElement[] {
  const [a, b] = rows;
  if (a === undefined) return [];
  const same = b === undefined ? 0 : sharedTokens(tree, a, b);
  const from = Math.max(0, same - 20);
  const paths = rows.map((trajectory) => rowTokens(tree, pathOf(tree, trajectory)));
  const words =
    b === undefined
      ? ""
      : paths.every(({ length }) => length === same)
        ? `Rows ${a} and ${b} have the same tokens.`
        : `Rows ${a} and ${b} share ${same} tokens; the dashed line is where they part.`;
  const columns = rows.map((trajectory, i) => {
    const { reason } = tree.trajectories[trajectory]!;
    return element(
      "div",
      {},
      element("h4", {}, `row ${trajectory}${from > 0 ? `, from token ${from} on` : ""}`),
      reason == null ? undefined : element("p", {}, reason),
      heatText(tree, colouring, paths[i]!.slice(from), `row ${trajectory}`),
    );
  });
  return [element("p", {}, words), element("div", { class: "arpo-columns" }, ...columns)];
}
