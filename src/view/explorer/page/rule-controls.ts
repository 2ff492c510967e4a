import { branchRules } from "../../../rollout/branch/branch-rule.js";
import { isExpansion, type ExpandOptions } from "../../../rollout/branch/family/settings.js";
import type { RolloutRule } from "../../../rollout/options.js";
import { element } from "../../page/element.js";
import type { Choices } from "./choices.js";
import type { PageTree } from "./unpack-tree.js";

/** A slider's key, its label, and how far it goes. */
type Slider<K extends string> = readonly [key: K, label: string, low: number, high: number];

const decided: Slider<"probability" | "weight" | "threshold">[] = [
  ["probability", "probability", 0, 1],
  ["weight", "entropy weight", 0, 2],
  ["threshold", "threshold", 0, 1],
];

/** What of the other rules' settings a page can change: the places it carries were ranked already. */
const chosen: Slider<"points" | "rows" | "rounds" | "penalty" | "segment" | "divergence">[] = [
  ["points", "points", 1, NaN],
  ["rows", "rows", 1, 16],
  ["rounds", "rounds", 0, 6],
  ["penalty", "penalty", 0, 1],
  ["segment", "segment", 1, 1024],
  ["divergence", "continuations", 1, 16],
];

/** The rule that is asked what it would have done, and sliders for what may be changed of it. */
export function ruleControls(
  tree: PageTree,
  choices: Choices,
  changed: () => void,
): HTMLFieldSetElement {
  const box = element("fieldset", { class: "arpo-bar" });
  const rules = rulesToAsk(tree);
  if (!rules.includes(tree.rule)) rules.unshift(tree.rule);
  const rule = element("select", { "data-change": "rule" });
  for (const name of rules) rule.append(element("option", { value: name }, name));
  const sliders = element("span", { class: "arpo-bar" });
  rule.onchange = () => {
    choices.rule = rule.value as RolloutRule;
    choices.expand = {};
    layOut();
    changed();
  };
  const reset = element("button", {}, "as it was");
  reset.onclick = () => {
    choices.rule = tree.rule;
    choices.changes = {};
    choices.expand = {};
    layOut();
    changed();
  };

  function layOut(): void {
    rule.value = choices.rule;
    sliders.replaceChildren(
      ...(isExpansion(choices.rule) ? expandSliders() : decided.map(decidedSlider)),
    );
  }
  function decidedSlider([key, label, low, high]: (typeof decided)[number]): HTMLElement {
    const start = choices.changes[key] ?? tree.plan.settings[key];
    return slider({ key, label, low, high, step: 0.01, start }, (value) => {
      choices.changes[key] = value;
      changed();
    });
  }
  function expandSliders(): HTMLElement[] {
    const { rule: name } = choices;
    const plan = isExpansion(name) ? tree.expansions[name] : undefined;
    if (!plan) return [];
    const settings: ExpandOptions = plan.settings;
    return chosen.flatMap(([key, label, low, high]) => {
      const start = choices.expand[key] ?? settings[key];
      if (start === undefined) return [];
      const step = key === "penalty" ? 0.01 : 1;
      // Of each row as many places are carried.
      const most = key === "points" ? tree.most : high;
      return [
        slider({ key, label, low, high: most, step, start }, (value) => {
          choices.expand[key] = value;
          changed();
        }),
      ];
    });
  }

  box.append(
    element("legend", {}, "What would have branched?"),
    element("label", {}, "rule ", rule),
    sliders,
    reset,
  );
  layOut();
  return box;
}

/** The rules that can say anything of a tree: none where nothing is known of its tokens. */
export function rulesToAsk({ plan, expansions }: PageTree): RolloutRule[] {
  const attempted = plan.attemptsPerTrajectory > 0 ? branchRules : [];
  const isKnown = Object.values(expansions).some(({ settings }) => "signal" in settings);
  return [...attempted, ...(attempted.length > 0 || isKnown ? keysOf(expansions) : [])];
}

const keysOf = <K extends string>(of: Partial<Record<K, unknown>>): K[] => Object.keys(of) as K[];

function slider(
  at: { key: string; label: string; low: number; high: number; step: number; start: number },
  moved: (value: number) => void,
): HTMLElement {
  const { key, label, low, high, step, start } = at;
  const input = element("input", { type: "range", step: String(step), "data-change": key });
  input.min = String(Math.min(low, start));
  input.max = String(Math.max(high, start));
  input.value = String(start);
  const told = element("output", {}, String(start));
  input.oninput = () => {
    told.textContent = input.value;
    moved(Number(input.value));
  };
  return element("label", {}, `${label} `, input, told);
}
