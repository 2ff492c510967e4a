import { element } from "../../../page/element.js";
import { marksOf } from "../draw/draw-marks.js";
import { markX } from "../layout/layout.js";
import { chanceBar, choicesAt, decisionsAt } from "../panel/decision-card.js";
import { tokenCard } from "../panel/token-card.js";
import { resultOf } from "../tree/chip-words.js";
import type { Ghost } from "../tree/shown-replay.js";
import { cut, numberText, signed, two } from "../../../page/words.js";
import type { ExplorerView } from "../view.js";

/** What lies under the pointer. */
interface Hit {
  /** -1 for a ghost. */
  trajectory: number;
  ghost?: Ghost;
  isGutter?: boolean;
  node?: number;
  isMark?: boolean;
  /** -1 in a tool result. */
  token?: number;
}

/** Finds what lies at a place in the window. */
function hitAt(view: ExplorerView, clientX: number, clientY: number): Hit | undefined {
  const { scroller, layout, facts, replay, moment } = view;
  const box = scroller.getBoundingClientRect();
  const [x, y] = [clientX - box.left, clientY - box.top];
  if (y < layout.head) return undefined;
  const below = y + scroller.scrollTop;
  const lane = layout.lanes.find((each) => below >= each.y && below < each.y + each.height);
  if (!lane) return undefined;
  const { trajectory, ghost } = lane;
  if (ghost) return { trajectory, ghost };
  if (x > scroller.clientWidth - layout.gutter) return { trajectory, isGutter: true };
  const along = x - layout.left + scroller.scrollLeft;
  let found: number | undefined;
  for (const node of facts.own[trajectory]!) {
    if (moment && moment.born[node]! > moment.at) break;
    const reach = facts.tree.nodes[node]!.kind === "tool" ? 10 : 7;
    for (const { offset } of marksOf(facts, replay, node)) {
      const at = markX(layout, facts, node, offset);
      const from = layout.gauge > 0 && offset === undefined ? layout.x1[node]! + 2 : at - reach;
      if (along > Math.min(from, at - reach) && along < at + reach) {
        return { trajectory, node, isMark: true };
      }
    }
    if (along >= layout.x0[node]! - 1 && along <= layout.x1[node]! + 1) found = node;
  }
  if (found === undefined) return { trajectory };
  const { kind, length } = facts.tree.nodes[found]!;
  const share = (along - layout.x0[found]!) / Math.max(1e-9, layout.x1[found]! - layout.x0[found]!);
  const token = Math.max(0, Math.min(length - 1, Math.floor(share * length)));
  return { trajectory, node: found, token: kind === "model" && length > 0 ? token : -1 };
}

/** What a place tells the pointer; the panel tells all of it to everybody else. */
function tipOf(view: ExplorerView, hit: Hit): Node[] {
  const { facts } = view;
  const { tree } = facts;
  const line = (...content: (string | Node | undefined)[]) => element("div", {}, ...content);
  const muted = (text: string) => element("div", { class: "ax-muted" }, text);
  if (hit.ghost) {
    const words = `With these settings trajectory ${hit.ghost.trajectory} would branch here. Its text is unknown until you roll it out.`;
    return [line(element("b", {}, "New branch")), muted(words)];
  }
  if (hit.isGutter) {
    const { score, reason } = tree.trajectories[hit.trajectory]!;
    const answer = facts.answers[hit.trajectory]!;
    return [
      line(
        element("b", {}, `Trajectory ${hit.trajectory}`),
        answer === "" ? "" : ` answered ${answer}`,
      ),
      ...(score == null
        ? []
        : [
            line(
              `score ${numberText(score, 3)}, group mean ${two(facts.mean)}, advantage ${signed(facts.advantages[hit.trajectory])}`,
            ),
          ]),
      ...(reason == null ? [] : [muted(reason)]),
    ];
  }
  if (hit.node === undefined) return [];
  if (hit.isMark) {
    const decisions = decisionsAt(view, hit.node).flatMap((decision) => [
      line(
        element("b", {}, decision.branch ? "Branched" : "No branch"),
        decision.child === undefined ? "" : ` → trajectory ${decision.child}`,
      ),
      line(decision.words),
      ...[chanceBar(decision)].filter((bar) => bar !== undefined),
    ]);
    return decisions.length > 0 ? decisions : choicesAt(view, hit.node).map((words) => line(words));
  }
  const node = tree.nodes[hit.node]!;
  if (node.kind === "tool") {
    return [
      line(
        element("b", {}, node.tool?.tag ?? "tool"),
        " ",
        element("code", {}, cut(node.tool?.input ?? "", 60)),
      ),
      element("pre", {}, cut(resultOf(tree, node), 220)),
      muted("tool result · click to unfold"),
    ];
  }
  return hit.token === undefined || hit.token < 0 ? [] : [tokenCard(tree, node.start + hit.token)];
}

/** A box beside the pointer, inside the explorer. */
function makeTooltip(view: ExplorerView): {
  box: HTMLElement;
  show: (hit: Hit | undefined, clientX: number, clientY: number) => void;
  hide: () => void;
} {
  const box = element("div", { class: "ax-tip", "aria-hidden": "true" });
  box.hidden = true;
  const hide = () => void (box.hidden = true);
  return {
    box,
    hide,
    show: (hit, clientX, clientY) => {
      const content = hit ? tipOf(view, hit) : [];
      if (content.length === 0) {
        hide();
        return;
      }
      box.replaceChildren(...content);
      box.hidden = false;
      const outer = view.root.getBoundingClientRect();
      const own = box.getBoundingClientRect();
      let [x, y] = [clientX - outer.left + 14, clientY - outer.top + 18];
      if (x + own.width > outer.width - 6) x = Math.max(6, clientX - outer.left - own.width - 14);
      const low = Math.min(innerHeight, outer.bottom) - outer.top;
      if (y + own.height > low - 6) y = clientY - outer.top - own.height - 14;
      box.style.left = `${x}px`;
      box.style.top = `${y}px`;
    },
  };
}

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
