import { element } from "../../../page/element.js";
import { quantitiesOf } from "../draw/measures.js";
import type { ExplorerState, ExplorerView } from "../view.js";

type Chosen = "quantity" | "scale" | "align" | "lanes";

/** How the tree is drawn. */
export function viewMenu(view: ExplorerView): HTMLElement {
  const { state, facts } = view;
  const { nodes } = facts.tree;
  // Trees from files may have no times.
  const isTimed = nodes.every((node) => node.kind === "end" || node.ended != null);
  const words = {
    entropy: "Entropy",
    probability: "Probability",
    reward: "Score",
    advantage: "Advantage",
  };
  const choice = <K extends Chosen>(
    key: K,
    label: string,
    values: readonly (readonly [ExplorerState[K], string])[],
  ) => {
    const select = element("select", { class: "ax-select", "data-view": key });
    for (const [value, text] of values) select.append(element("option", { value }, text));
    select.value = state[key];
    select.onfocus = () => (select.value = state[key]);
    select.onchange = () => {
      state[key] = select.value as ExplorerState[K];
      view.update();
    };
    return element("label", { class: "ax-field" }, element("span", {}, label), select);
  };
  const unfold = element("input", { type: "checkbox" });
  unfold.onchange = () => {
    state.unfolded.clear();
    if (unfold.checked) {
      nodes.forEach(({ kind }, i) => {
        if (kind === "tool") state.unfolded.add(i);
      });
    }
    view.update();
  };
  return element(
    "div",
    {},
    choice(
      "quantity",
      "Colour and height",
      quantitiesOf(facts.tree).map((q) => [q, words[q]] as const),
    ),
    choice("scale", "Entropy scale", [
      ["sqrt", "√"],
      ["linear", "linear"],
      ["percentile", "percentile"],
    ]),
    choice("align", "Align trajectories by", [
      ["turns", "turn"],
      ["tokens", "token count"],
      ...(isTimed ? ([["time", "time"]] as const) : []),
    ]),
    choice("lanes", "Lane height", [
      ["auto", "auto"],
      ["small", "small"],
      ["tall", "tall"],
    ]),
    element("label", { class: "ax-check" }, unfold, "Unfold all tool results"),
  );
}
