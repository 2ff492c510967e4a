import { startExplorer } from "../../explorer/page/start-explorer.js";
import { carrier } from "../../page/carried.js";
import { element } from "../../page/element.js";
import type { PageColours } from "../../page/page-colours.js";
import type { ShownBoard } from "./shown-board.js";

/** The rollouts of a step: what chooses them, and the explorer that shows one. */
export interface Rollouts {
  parts: HTMLElement[];
  open: (step: number) => void;
}

/** A slider over the steps, a choice of their trees, and an explorer; `moved` follows every step. */
export function makeRollouts(
  root: HTMLElement,
  shown: ShownBoard,
  colours: PageColours,
  moved: () => void,
): Rollouts {
  const { payload, choices, steps, oneRun } = shown;
  const rollout = element("div", { class: "arpo-rollout" });
  const slider = element("input", {
    type: "range",
    min: "0",
    "data-scrub": "",
    "aria-label": "step",
  });
  slider.max = String(Math.max(0, steps.length - 1));
  const told = element("output", {});
  const which = element("select", {});
  let open = payload.rollouts.find(({ data }) => data === choices.open) ?? payload.rollouts.at(-1);

  function openTree(): void {
    if (!open) return;
    choices.open = choices.step === undefined ? undefined : open.data;
    const name = `${root.id}-${open.data}`;
    const tree = root.querySelector(`script[data-${open.data}]`)?.textContent ?? "";
    const holder = element(
      "div",
      { id: name, class: "arpo-view arpo-explorer" },
      carrier("tree", tree),
      open.live && carrier("live", JSON.stringify(open.live)),
    );
    rollout.replaceChildren(holder);
    startExplorer(name, colours);
  }
  function openStep(step: number): void {
    shown.cursor = step;
    // Who looks at the newest step follows the run; who went back to one stays there.
    choices.step = step === steps.at(-1) ? undefined : step;
    const here = payload.rollouts.filter((each) => each.step === step);
    which.replaceChildren(
      ...here.map(({ run, seed, label, data }) => {
        const name = oneRun ? "" : `${payload.runs[run]!.name}, `;
        const of = payload.runs[run]!.seeds > 1 ? `seed ${seed + 1}, ` : "";
        return element("option", { value: data }, `${name}${of}${label}`);
      }),
    );
    open = here.find(({ run, seed }) => run === open?.run && seed === open.seed) ?? here[0];
    if (open) which.value = open.data;
    slider.value = String(Math.max(0, steps.indexOf(step)));
    slider.setAttribute("aria-valuetext", `step ${step}`);
    told.textContent = `step ${step} of ${payload.to}`;
    moved();
    openTree();
  }
  slider.oninput = () => openStep(steps[Number(slider.value)]!);
  which.onchange = () => {
    open = payload.rollouts.find(({ data }) => data === which.value);
    openTree();
  };
  const button = (label: string, title: string, by: number) => {
    const made = element("button", { "aria-label": title }, label);
    made.onclick = () => {
      const last = by < 0 ? steps[0] : steps.at(-1);
      openStep(steps[steps.indexOf(shown.cursor) + by] ?? last!);
    };
    return made;
  };
  const chooser = element(
    "fieldset",
    { class: "arpo-bar" },
    element("legend", {}, "Rollouts of a step"),
    button("‹", "earlier step", -1),
    slider,
    button("›", "later step", 1),
    told,
    element("label", {}, "tree ", which),
  );
  return { parts: [chooser, rollout], open: openStep };
}
