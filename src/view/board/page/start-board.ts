import { carried } from "../../page/carried.js";
import { element } from "../../page/element.js";
import { coloursOf, type PageColours } from "../../page/page-colours.js";
import type { BoardPayload } from "../payload.js";
import { choicesOf } from "./choices.js";
import { makeControls } from "./make-controls.js";
import { makePanel } from "./make-panel.js";
import { makeRollouts } from "./make-rollouts.js";
import { ShownBoard } from "./shown-board.js";
import { figuresTable } from "./tell-figures.js";
import { titleOf } from "./title.js";

/** Brings one board of the page to life. */
export function startBoard(id: string, colours: PageColours): void {
  // Where a board replaces itself, the new one is the last of its name.
  const root = [...document.querySelectorAll<HTMLElement>(`[id="${id}"]`)].at(-1);
  const payload = carried<BoardPayload>(root, "board");
  if (!root || payload === undefined) return;
  const { series } = coloursOf(root, colours);
  const shown = new ShownBoard(payload, choicesOf(id), series, getComputedStyle(root).color);
  const facts = element("div", { class: "arpo-facts", "aria-live": "polite" });
  const rollouts = makeRollouts(root, shown, colours, draw);
  const look = (step: number) => {
    shown.cursor = step;
    draw();
  };
  const panels = payload.panels.map((panel) =>
    makePanel(shown, panel, { look, leave: () => look(shown.rest), open: rollouts.open }),
  );

  function draw(): void {
    const width = Math.max(240, panels[0]?.box.clientWidth ?? 320);
    for (const panel of panels) panel.draw(width);
    if (!shown.oneRun) facts.replaceChildren(figuresTable(shown));
  }

  root.querySelector("[data-picture]")?.remove();
  root.append(
    ...titleOf(payload),
    makeControls(shown, draw),
    element("div", { class: "arpo-panels" }, ...panels.map(({ box }) => box)),
    facts,
  );
  const { steps, cursor } = shown;
  if (steps.length > 0) {
    root.append(...rollouts.parts);
    rollouts.open(steps.includes(cursor) ? cursor : steps.at(-1)!);
  } else draw();
  new ResizeObserver(draw).observe(root);
}
