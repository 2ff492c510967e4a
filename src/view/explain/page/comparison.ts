import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import { tableRow } from "../../page/table-row.js";
import type { ExplainedAlgorithm } from "../payload.js";
import type { ShownBatch } from "./shown-batch.js";

const note =
  "Push: how a small step of gradient descent would move ln p of the token, if it were alone. Entropies are standardised over this batch; an update does it over each forward pass.";

/** What becomes of the token under every algorithm. */
export function comparisonOf(shown: ShownBatch): HTMLElement[] {
  const sharing = shown.batch.sharing(shown.token);
  const heads = ["algorithm", "advantage", "used", "ratio", "bounds", "clip", "weight", "push"];
  if (sharing.length > 1) heads.push(`push of all ${sharing.length} rows that share it`);
  const caption = element("caption", {}, "This token under every algorithm");
  const grid = element("table", {}, caption, tableRow("th", heads));
  for (const each of shown.payload.algorithms) {
    const line = tableRow("td", cellsOf(shown, each, sharing));
    if (each === shown.algorithm) line.className = "arpo-active";
    grid.append(line);
  }
  return [grid, element("p", { class: "arpo-muted" }, note)];
}

function cellsOf(shown: ShownBatch, by: ExplainedAlgorithm, sharing: readonly number[]): string[] {
  const { advantage, used, ratio, low, high, region, weight, hold, push } = shown.terms(
    shown.token,
    by,
  );
  const kept = weight === 0 && hold === 0 ? "dropped" : "kept";
  const cells = [
    by.label,
    ...[advantage, used, ratio].map((x) => numberText(x, 4)),
    Number.isNaN(low) ? "–" : [low, high].map((x) => numberText(x, 5)).join(" – "),
    region === "inside" ? region : `${region}: ${kept}`,
    numberText(weight, 4),
    numberText(0 - push, 4),
  ];
  if (sharing.length < 2) return cells;
  const together = sharing.reduce((sum, other) => sum - shown.terms(other, by).push, 0);
  return [...cells, numberText(together, 4)];
}
