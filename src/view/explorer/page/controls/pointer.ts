import type { ExplorerView } from "../view.js";
import { hitAt } from "./hit.js";
import { makeTooltip } from "./tooltip.js";

/** Lets the pointer look, select, compare, unfold and zoom; gives the box of what it is told. */
export function followPointer(view: ExplorerView, minimap: HTMLElement): HTMLElement {
  const { scroller, state, facts } = view;
  const tip = makeTooltip(view);
  const look = (trajectory: number, mark: number) => {
    if (trajectory === state.hovered && mark === state.hoveredMark) return;
    state.hovered = trajectory;
    state.hoveredMark = mark;
    view.draw();
  };
  scroller.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const hit = hitAt(view, event.clientX, event.clientY);
    look(hit?.trajectory ?? -1, hit?.isMark ? hit.node! : -1);
    const isChoice = hit !== undefined && (hit.node !== undefined || hit.isGutter === true);
    scroller.style.cursor = isChoice ? "pointer" : "default";
    tip.show(hit, event.clientX, event.clientY);
  });
  scroller.addEventListener("pointerleave", () => {
    look(-1, -1);
    tip.hide();
  });
  scroller.addEventListener("click", (event) => {
    const hit = hitAt(view, event.clientX, event.clientY);
    if (!hit || hit.ghost) return;
    if (event.shiftKey) {
      view.compareWith(hit.trajectory);
      return;
    }
    if (hit.isGutter) {
      const { leaf } = facts.tree.trajectories[hit.trajectory]!;
      const last = facts.paths[hit.trajectory]!.at(-1) ?? leaf;
      view.select(last, -1, hit.trajectory);
      return;
    }
    if (hit.node === undefined) return;
    if (facts.tree.nodes[hit.node]!.kind === "tool" && !hit.isMark) view.unfold(hit.node);
    view.select(hit.node, hit.token ?? -1);
  });
  scroller.addEventListener("scroll", () => {
    tip.hide();
    view.draw();
  });
  scroller.addEventListener("keydown", tip.hide);
  scroller.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      view.zoom(event.deltaY < 0 ? 1.25 : 0.8, event.clientX);
    },
    { passive: false },
  );
  const jump = ({ clientY }: PointerEvent) => {
    const { top, height } = minimap.getBoundingClientRect();
    const share = (clientY - top - 4) / (height - 8);
    const { layout } = view;
    scroller.scrollTop = share * (layout.totalHeight - layout.head) - layout.viewHeight / 2;
  };
  minimap.addEventListener("pointerdown", (event) => {
    minimap.setPointerCapture(event.pointerId);
    jump(event);
  });
  minimap.addEventListener("pointermove", (event) => {
    if (minimap.hasPointerCapture(event.pointerId)) jump(event);
  });
  return tip.box;
}
