import { element } from "../../page/element.js";
import type { Choices } from "./choices.js";
import { quantitiesOf, type Quantity } from "./colouring.js";
import { ruleControls, rulesToAsk } from "./rule-controls.js";
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
  const rows = tree.trajectories.map((row, i): [string, string] => {
    const score = row.score == null ? "" : `, score ${Number(row.score.toPrecision(3))}`;
    return [String(i), `row ${i} (${row.kind}, ${row.end}${score})`];
  });
  const none: [string, string] = ["-1", "–"];
  pick("follow", [none, ...rows], "-1", (value) => (choices.follow = Number(value)));
  pick("compare with", [none, ...rows], "-1", (value) => (choices.compare = Number(value)));

  // A tree that no rule could have branched has nothing to ask about.
  const asked = rulesToAsk(tree).length > 0;
  return element("div", {}, bar, ...(asked ? [ruleControls(tree, choices, changed)] : []));
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
