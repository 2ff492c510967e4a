import {
  attemptRuleNamed,
  attemptRules,
  isExpansion,
  type ExpandOptions,
} from "../../../../rollout/rules/registry.js";
import type { RolloutRule } from "../../../../rollout/options.js";
import { element } from "../../../page/element.js";
import { ruleName } from "../../payload.js";
import { ownSettings } from "../tree/shown-replay.js";
import type { PageTree } from "../tree/unpack-tree.js";
import { many } from "../../../page/words.js";
import type { ExplorerView } from "../view.js";

/** A slider's key, its label, and how far it goes. */
type Slider<K extends string> = readonly [key: K, label: string, low: number, high: number];

const decided: Slider<"probability" | "weight" | "threshold">[] = [
  ["probability", "Branch probability", 0, 1],
  ["weight", "Entropy weight", 0, 2],
  ["threshold", "Threshold", 0, 1],
];

/** What of the other rules' settings a page can change: the places it carries were ranked already. */
const placed: Slider<"points" | "rows" | "rounds" | "penalty" | "segment" | "divergence">[] = [
  ["points", "Branch points", 1, NaN],
  ["rows", "Trajectories per point", 1, 16],
  ["rounds", "Rounds", 0, 6],
  ["penalty", "Penalty", 0, 1],
  ["segment", "Tokens per segment", 1, 1024],
  ["divergence", "Continuations", 1, 16],
];

/** The rules that can say anything of a tree: none where nothing is known of its tokens. */
export function rulesToAsk({ plan, expansions }: PageTree): RolloutRule[] {
  const attempted = plan.attemptsPerTrajectory > 0 ? attemptRules() : [];
  const isKnown = Object.values(expansions).some(({ settings }) => "signal" in settings);
  const others = Object.keys(expansions) as RolloutRule[];
  return [...attempted, ...(attempted.length > 0 || isKnown ? others : [])];
}

/** The panel that asks what other settings would have done: same text, same random draws. */
export function whatIfPanel(view: ExplorerView): Node[] {
  const { facts, state } = view;
  const { tree } = facts;
  const rules = rulesToAsk(tree);
  if (rules.length === 0) {
    const words = "This tree carries no entropies: no rule can decide its branches anew.";
    return [element("p", { class: "ax-note" }, words)];
  }
  if (!rules.includes(tree.rule)) rules.unshift(tree.rule);
  const result = element("div", { class: "ax-result", "aria-live": "polite" });
  const rule = element("select", { "data-change": "rule", class: "ax-select" });
  for (const name of rules)
    rule.append(element("option", { value: name }, ruleName(tree.titles, name)));
  const sliders = element("div", { class: "ax-fields" });
  const reset = element("button", { class: "ax-button", type: "button" }, "Reset");
  const changed = () => {
    view.update();
    tell();
  };
  function tell(): void {
    const { replay } = view;
    const made = replay.replay.before;
    const branches = replay.changed ? replay.replay.branches : made;
    const [gone, added] = [replay.missing.size, replay.ghosts.length];
    result.dataset["branches"] = String(branches);
    result.replaceChildren(
      element(
        "p",
        {},
        element("b", { class: "ax-big" }, String(branches)),
        ` ${branches === 1 ? "branch" : "branches"}`,
      ),
      element("p", {}, `the rollout made ${made}`),
      element(
        "p",
        { class: "ax-row" },
        element(
          "span",
          { class: "ax-chip ax-plain" },
          `− ${gone} ${gone === 1 ? "trajectory" : "trajectories"} removed`,
        ),
        element("span", { class: "ax-chip ax-new" }, `+ ${added} new, text unknown`),
      ),
    );
    reset.disabled = !replay.changed;
    const { missing } = replay;
    view.say(
      replay.changed
        ? `${many(branches, "branch", "branches")}, the rollout made ${made}. ${missing.size} removed, ${added} new.`
        : "The rollout's own settings.",
    );
  }
  function layOut(): void {
    rule.value = state.whatIf.rule;
    sliders.replaceChildren(
      ...(isExpansion(state.whatIf.rule) ? placedSliders() : decided.map(decidedSlider)),
    );
  }
  function decidedSlider([key, label, low, high]: (typeof decided)[number]): HTMLElement {
    const was = tree.plan.settings[key];
    const isUsed = attemptRuleNamed(state.whatIf.rule)?.reads.includes(key) ?? key !== "threshold";
    const start = state.whatIf.changes[key] ?? was;
    return slider({ key, label, low, high, step: 0.01, start, was, isUsed }, (value) => {
      state.whatIf = { ...state.whatIf, changes: { ...state.whatIf.changes, [key]: value } };
      changed();
    });
  }
  function placedSliders(): HTMLElement[] {
    const { rule: name, expand } = state.whatIf;
    const plan = isExpansion(name) ? tree.expansions[name] : undefined;
    const settings: ExpandOptions = plan?.settings ?? {};
    return placed.flatMap(([key, label, low, high]) => {
      const was = settings[key];
      if (was === undefined) return [];
      const start = expand[key] ?? was;
      const step = key === "penalty" ? 0.01 : 1;
      // Of each trajectory as many places are carried.
      const most = key === "points" ? tree.most : high;
      return [
        slider({ key, label, low, high: most, step, start, was, isUsed: true }, (value) => {
          state.whatIf = { ...state.whatIf, expand: { ...state.whatIf.expand, [key]: value } };
          changed();
        }),
      ];
    });
  }
  rule.onchange = () => {
    state.whatIf = { ...state.whatIf, rule: rule.value as RolloutRule, expand: {} };
    layOut();
    changed();
  };
  reset.onclick = () => {
    state.whatIf = ownSettings(tree);
    layOut();
    changed();
  };
  layOut();
  tell();
  return [
    element(
      "p",
      { class: "ax-note" },
      "Same text, same random draws, other settings: which branches would exist?",
    ),
    result,
    element("label", { class: "ax-field" }, element("span", {}, "Rule"), rule),
    sliders,
    element("div", { class: "ax-row" }, reset),
  ];
}

interface SliderParts {
  key: string;
  label: string;
  low: number;
  high: number;
  step: number;
  start: number;
  was: number;
  /** Whether the rule looks at it. */
  isUsed: boolean;
}

function slider(at: SliderParts, moved: (value: number) => void): HTMLElement {
  const { key, label, low, high, step, start, was, isUsed } = at;
  const input = element("input", {
    ...{ type: "range", class: "ax-slider", step: String(step), "data-change": key },
    ...{ min: String(Math.min(low, start)), max: String(Math.max(high, start)) },
  });
  input.value = String(start);
  input.disabled = !isUsed;
  const told = element("output", {});
  const tell = () => {
    told.textContent = Number(input.value).toFixed(step < 1 ? 2 : 0);
    const share =
      (Number(input.value) - Number(input.min)) / (Number(input.max) - Number(input.min));
    input.style.setProperty("--p", `${100 * share}%`);
  };
  input.oninput = () => {
    tell();
    moved(Number(input.value));
  };
  tell();
  return element(
    "label",
    { class: `ax-field${isUsed ? "" : " ax-off"}` },
    element("span", {}, label),
    told,
    input,
    element(
      "small",
      {},
      isUsed ? `rollout: ${was.toFixed(step < 1 ? 2 : 0)}` : "this rule does not look at it",
    ),
  );
}
