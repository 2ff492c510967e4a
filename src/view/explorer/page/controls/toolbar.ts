import { element } from "../../../page/element.js";
import { quantitiesOf, quantityNames } from "../draw/measures.js";
import type { Filter } from "../layout/lane-order.js";
import type { ExplorerState, ExplorerView } from "../view.js";
import { exportMenu } from "./export.js";
import { icon, type IconName } from "./icon.js";
import type { Playback } from "./playback.js";

/** A button that opens a menu below it; Escape and a press elsewhere close it. */
function popover(button: HTMLButtonElement, menu: HTMLElement, name: string): HTMLElement {
  menu.hidden = true;
  menu.classList.add("ax-menu");
  menu.setAttribute("role", "group");
  menu.setAttribute("aria-label", name);
  button.setAttribute("aria-expanded", "false");
  const box = element("span", { class: "ax-popover" }, button, menu);
  const show = (isOpen: boolean) => {
    menu.hidden = !isOpen;
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
      document.addEventListener("pointerdown", elsewhere, true);
      menu.querySelector<HTMLElement>("button, select, input")?.focus();
    } else document.removeEventListener("pointerdown", elsewhere, true);
  };
  const elsewhere = ({ target }: Event) => {
    if (!box.contains(target as Node)) show(false);
  };
  button.onclick = () => show(menu.hidden !== false);
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget as Node)) show(false);
  });
  box.addEventListener("close-menu", () => show(false));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || menu.hidden) return;
    event.preventDefault();
    event.stopPropagation();
    show(false);
    button.focus();
  });
  return box;
}

type Chosen = "quantity" | "scale" | "align" | "lanes";

/** How the tree is drawn. */
function viewMenu(view: ExplorerView): HTMLElement {
  const { state, facts } = view;
  const { nodes } = facts.tree;
  // Trees from files may have no times.
  const isTimed = nodes.every((node) => node.kind === "end" || node.ended != null);
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
      quantitiesOf(facts.tree).map((q) => [q, quantityNames[q]] as const),
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

/** The one trajectory above the tree; `tell` shows what is chosen now. */
interface Toolbar {
  bar: HTMLElement;
  tell: () => void;
}

function makeButton(name: IconName, label: string, aria = label): HTMLButtonElement {
  const words = element("span", { class: "ax-label" }, label);
  return element(
    "button",
    { class: "ax-button", type: "button", "aria-label": aria },
    icon(name),
    words,
  );
}

export function makeToolbar(view: ExplorerView, playback: Playback): Toolbar {
  const { state, facts } = view;
  const play = makeButton("play", "How it grew", "How it grew: play the events");
  play.onclick = playback.toggle;
  const filters = segments("Filter", ["all", "right", "wrong"] as const, (filter) => {
    state.filter = filter;
    view.update();
  });
  const scored = facts.mean !== undefined;
  const known = quantitiesOf(facts.tree).filter((q) => q !== "probability" && q !== "reward");
  const quantities = segments("Colour and height", known, (quantity) => {
    state.quantity = quantity;
    view.update();
  });
  quantities.box.classList.add("ax-wide");
  for (const each of known) quantities.buttons[each]!.textContent = quantityNames[each];
  const zoom = (label: string, sign: string, factor: number) => {
    const made = element(
      "button",
      { class: "ax-button ax-square", type: "button", "aria-label": label },
      sign,
    );
    made.onclick = () => view.zoom(factor);
    return made;
  };
  const whatIf = makeButton("whatIf", "What if?");
  whatIf.classList.add("ax-keeps-label");
  whatIf.onclick = () =>
    view.openTab(state.isOpen && state.tab === "whatif" ? undefined : "whatif");
  const bar = element(
    "div",
    { class: "ax-bar", role: "toolbar", "aria-label": "Tree" },
    play,
    scored ? filters.box : undefined,
    known.length > 1 ? quantities.box : undefined,
    element("span", { class: "ax-grow" }),
    element(
      "span",
      { class: "ax-zoom" },
      zoom("zoom out", "−", 1 / 1.4),
      zoom("zoom in", "+", 1.4),
    ),
    popover(makeButton("view", "View"), viewMenu(view), "View"),
    whatIf,
    popover(makeButton("export", "Export"), exportMenu(view), "Export"),
  );
  const right = facts.verdicts.filter((verdict) => verdict === "right").length;
  const counts: Record<Filter, number> = {
    ...{ all: facts.verdicts.length, right, wrong: facts.verdicts.length - right },
  };
  const names: Record<Filter, [string, string]> = {
    ...{ all: ["All", "All"], right: ["Right", "✓"], wrong: ["Wrong", "✗"] },
  };
  for (const filter of ["all", "right", "wrong"] as const) {
    const [long, short] = names[filter];
    const button = filters.buttons[filter]!;
    button.setAttribute("aria-label", `${long} ${counts[filter]}`);
    button.append(
      element("span", { class: "ax-long" }, long),
      element("span", { class: "ax-short" }, short),
      element("b", {}, ` ${counts[filter]}`),
    );
  }
  return {
    bar,
    tell: () => {
      filters.tell(state.filter);
      quantities.tell(state.quantity);
      whatIf.setAttribute("aria-pressed", String(state.isOpen && state.tab === "whatif"));
    },
  };
}

/** Buttons of which one is chosen. */
function segments<K extends string>(
  label: string,
  keys: readonly K[],
  chosen: (key: K) => void,
): {
  box: HTMLElement;
  buttons: Partial<Record<K, HTMLButtonElement>>;
  tell: (key: string) => void;
} {
  const buttons: Partial<Record<K, HTMLButtonElement>> = {};
  const box = element("span", { class: "ax-segments", role: "group", "aria-label": label });
  for (const key of keys) {
    const button = element("button", { type: "button", "data-choice": key });
    button.onclick = () => chosen(key);
    buttons[key] = button;
    box.append(button);
  }
  const tell = (key: string) => {
    for (const each of keys) buttons[each]!.setAttribute("aria-pressed", String(each === key));
  };
  return { box, buttons, tell };
}
