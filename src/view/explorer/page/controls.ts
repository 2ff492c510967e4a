import type { BranchRule } from "../../../rollout/branch/branch-rule.js";
import { element } from "../../page/element.js";
import type { Choices } from "./choices.js";
import { quantitiesOf, type Quantity } from "./colouring.js";
import type { PageTree } from "./unpack-tree.js";

/** The explorer's controls; `changed` is called after every change of the choices. */
export function makeControls(tree: PageTree, choices: Choices, changed: () => void): HTMLElement {
  const bar = element("div", { class: "arpo-bar" });
  const pick = (
    label: string,
    options: [string, string][],
    value: string,
    chosen: (value: string) => void,
  ) => {
    const select = element("select", {});
    for (const [key, text] of options) select.append(element("option", { value: key }, text));
    select.value = value;
    select.onchange = () => {
      chosen(select.value);
      changed();
    };
    bar.append(element("label", {}, `${label} `, select));
    return select;
  };
  const quantities = quantitiesOf(tree);
  pick(
    "colour",
    quantities.map((q) => [q, q]),
    choices.quantity,
    (value) => (choices.quantity = value as Quantity),
  );
  // Trees from files may have no times.
  if (tree.nodes.every((node) => node.kind === "end" || node.ended != null)) {
    pick(
      "along",
      [
        ["tokens", "tokens"],
        ["time", "time"],
      ],
      choices.along,
      (value) => (choices.along = value as Choices["along"]),
    );
  }
  const rows = tree.rows.map((row, i): [string, string] => {
    const score = row.score == null ? "" : `, score ${Number(row.score.toPrecision(3))}`;
    return [String(i), `row ${i} (${row.kind}, ${row.end}${score})`];
  });
  const none: [string, string] = ["-1", "–"];
  pick("follow", [none, ...rows], "-1", (value) => (choices.follow = Number(value)));
  pick("compare with", [none, ...rows], "-1", (value) => (choices.compare = Number(value)));

  const { settings } = tree.plan;
  const replayed = element("fieldset", { class: "arpo-bar" });
  replayed.append(element("legend", {}, "What would have branched?"));
  const rules = ["arpo-code", "arpo-paper", "seed-docs", "aepo-code", "aepo-paper"];
  const rule = element("select", { "data-change": "rule" });
  for (const name of rules) rule.append(element("option", { value: name }, name));
  rule.value = settings.rule;
  rule.onchange = () => {
    choices.changes.rule = rule.value as BranchRule;
    changed();
  };
  replayed.append(element("label", {}, "rule ", rule));
  const sliders: [key: "probability" | "weight" | "threshold", label: string, high: number][] = [
    ["probability", "probability", 1],
    ["weight", "entropy weight", 2],
    ["threshold", "threshold", 1],
  ];
  const resets: (() => void)[] = [];
  for (const [key, label, high] of sliders) {
    const start = settings[key];
    const slider = element("input", { type: "range", step: "0.01", "data-change": key });
    slider.min = String(Math.min(0, start));
    slider.max = String(Math.max(high, start));
    slider.value = String(start);
    const told = element("output", {}, String(start));
    slider.oninput = () => {
      choices.changes[key] = Number(slider.value);
      told.textContent = slider.value;
      changed();
    };
    resets.push(() => {
      slider.value = String(start);
      told.textContent = String(start);
    });
    replayed.append(element("label", {}, `${label} `, slider, told));
  }
  const reset = element("button", {}, "as it was");
  reset.onclick = () => {
    choices.changes = {};
    rule.value = settings.rule;
    for (const back of resets) back();
    changed();
  };
  replayed.append(reset);
  // A tree that no rule could have branched has nothing to ask about.
  return element("div", {}, bar, ...(tree.plan.attemptsPerRow > 0 ? [replayed] : []));
}

/** What a replay would have done, in words. */
export function replayWords(replay: {
  branches: number;
  before: number;
  unseen: number;
  missing: number[];
}): string {
  const { branches, before, unseen, missing } = replay;
  const words = [
    `${branches} ${branches === 1 ? "branch" : "branches"} (the rollout made ${before})`,
  ];
  if (missing.length > 0) words.push(`rows ${missing.join(", ")} would not exist`);
  if (unseen > 0) words.push(`${unseen} would be new: what they would write is not known`);
  return words.join("; ");
}
