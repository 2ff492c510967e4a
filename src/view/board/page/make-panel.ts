import { element } from "../../page/element.js";
import type { BoardPanel } from "../payload.js";
import { drawPanel, panelScale } from "./draw-panel.js";
import type { ShownBoard } from "./shown-board.js";
import { figuresNow } from "./tell-figures.js";

const height = 150;

/** What the pointer does on a panel. */
export interface PanelEvents {
  look: (step: number) => void;
  leave: () => void;
  open: (step: number) => void;
}

/** One panel of a board, and how it is drawn anew. */
export interface PagePanel {
  box: HTMLElement;
  draw: (width: number) => void;
}

/** The step of a list that is nearest to a place. */
function nearest(steps: readonly number[], distance: (step: number) => number): number {
  return steps.reduce((a, b) => (distance(b) < distance(a) ? b : a), steps[0]!);
}

/** What the lines of a panel are called. */
function keysOf({ oneRun, series }: ShownBoard, { labels }: BoardPanel): HTMLElement {
  const keys = element("span", { class: "arpo-keys" });
  if (labels.length < 2) return keys;
  labels.forEach((label, i) => {
    const colour = oneRun ? series[i % series.length]! : "currentColor";
    // The dashes of drawPanel.
    const on = [[16], [5, 8], [2, 5], [8, 11, 13, 16]][i % 4]!;
    const stops = on.map((end, k) => `${k % 2 ? "transparent" : colour} 0 ${end}px`);
    const style = `height:3px;background:repeating-linear-gradient(90deg,${stops.join(",")})`;
    keys.append(element("span", {}, element("i", { style }), label));
  });
  return keys;
}

/** A panel: its title, its figures and its curves. */
export function makePanel(shown: ShownBoard, panel: BoardPanel, events: PanelEvents): PagePanel {
  const curve = element("div", { class: "arpo-curve" });
  const now = element("span", { class: "arpo-now" });
  const title = element("b", {}, panel.title);
  const box = element(
    "div",
    { class: "arpo-panel", title: panel.help },
    element("div", { class: "arpo-head" }, title, keysOf(shown, panel), now),
    curve,
  );
  const all = [...new Set(panel.curves.flatMap(({ x }) => x))];
  const stepAt = (event: MouseEvent) => {
    const frame = curve.getBoundingClientRect();
    const { x } = panelScale(panel, shown.viewOf(frame.width, height));
    const at = event.clientX - frame.left;
    return nearest(all, (step) => Math.abs(x(step) - at));
  };
  curve.onmousemove = (event) => events.look(stepAt(event));
  curve.onmouseleave = events.leave;
  curve.onclick = (event) => {
    const wanted = stepAt(event);
    if (shown.steps.length > 0)
      events.open(nearest(shown.steps, (step) => Math.abs(step - wanted)));
  };
  return {
    box,
    draw: (width) => {
      // The drawing holds numbers and escaped titles, nothing of what a model wrote.
      curve.innerHTML = drawPanel(panel, shown.viewOf(width, height));
      if (shown.oneRun) now.replaceChildren(...figuresNow(shown, panel));
    },
  };
}
