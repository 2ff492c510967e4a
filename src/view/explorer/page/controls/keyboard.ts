import { marksOf } from "../draw/draw-marks.js";
import { decisionsAt } from "../panel/decision-card.js";
import type { ExplorerView } from "../view.js";
import type { Playback } from "./playback.js";

/** The keys of the tree; a key that does something is nobody else's. */
export function followKeys(view: ExplorerView, playback: Playback): void {
  const { scroller, state, facts } = view;
  const { nodes } = facts.tree;

  const first = () => {
    const lane = view.layout.lanes.find(({ trajectory }) => trajectory >= 0);
    const node = lane && (facts.own[lane.trajectory]![0] ?? facts.paths[lane.trajectory]![0]);
    if (node !== undefined) view.select(node);
  };
  const along = (by: number) => {
    const { selected, token, trajectory } = state;
    if (selected < 0) return first();
    const { length } = nodes[selected]!;
    if (token >= 0 && length > 0) {
      view.select(selected, Math.max(0, Math.min(length - 1, token + by)), trajectory);
      return;
    }
    const path = facts.paths[trajectory]!;
    const next = path[path.indexOf(selected) + by];
    if (next !== undefined) view.select(next, -1, trajectory);
  };
  const across = (by: number) => {
    const { selected, trajectory } = state;
    if (selected < 0) return first();
    const { lanes, x0 } = view.layout;
    const x = x0[selected]!;
    let at = lanes.findIndex((lane) => lane.trajectory === trajectory) + by;
    while (
      lanes[at] &&
      (lanes[at]!.trajectory < 0 || facts.own[lanes[at]!.trajectory]!.length === 0)
    )
      at += by;
    const lane = lanes[at];
    if (!lane) return;
    const own = facts.own[lane.trajectory]!;
    const away = (node: number) => Math.abs(x0[node]! - x);
    view.select(own.reduce((best, node) => (away(node) < away(best) ? node : best), own[0]!));
  };
  const toBranch = (by: number) => {
    const places = view.layout.lanes.flatMap(({ trajectory }) =>
      trajectory < 0
        ? []
        : facts.own[trajectory]!.filter((node) =>
            marksOf(facts, view.replay, node).some(({ branch }) => branch),
          ),
    );
    if (places.length === 0) return;
    const from = places.indexOf(state.selected);
    const start = from < 0 && by < 0 ? 0 : from;
    const next = places[(start + by + places.length) % places.length]!;
    view.select(next);
    state.focusedMark = next;
    state.pill = undefined;
    const words = decisionsAt(view, next).map((decision) => decision.words);
    if (words.length > 0) view.say(`Trajectory ${state.trajectory}: ${words.join("; ")}`);
    view.draw();
  };
  const toEnd = (at: 0 | -1) => {
    if (state.trajectory < 0) return first();
    const node = facts.paths[state.trajectory]!.at(at);
    if (node !== undefined) view.select(node, -1, state.trajectory);
  };
  const enter = () => {
    const { selected, token, trajectory } = state;
    if (selected < 0) return first();
    if (nodes[selected]!.kind === "tool") view.unfold(selected);
    else view.select(selected, token >= 0 ? -1 : 0, trajectory);
  };
  const toPeak = () => {
    const { selected, trajectory } = state;
    if (selected < 0 || nodes[selected]!.kind === "tool") return;
    const { start, length } = nodes[selected]!;
    let peak = 0;
    for (let t = 1; t < length; t++) {
      if (facts.tree.entropies[start + t]! > facts.tree.entropies[start + peak]!) peak = t;
    }
    view.select(selected, peak, trajectory);
  };
  const filter = () => {
    if (facts.mean === undefined) return;
    state.filter = ({ all: "right", right: "wrong", wrong: "all" } as const)[state.filter];
    view.update();
    view.say(`Filter: ${state.filter}`);
  };
  const clear = () => {
    if (playback.isOn()) playback.stop();
    else {
      state.compared = -1;
      view.select(-1);
    }
  };
  const isSomethingToClear = () =>
    playback.isOn() || state.selected >= 0 || state.compared >= 0 || state.focusedMark >= 0;
  const does: Record<string, () => void> = {
    ArrowRight: () => along(1),
    ArrowLeft: () => along(-1),
    ArrowDown: () => across(1),
    ArrowUp: () => across(-1),
    Home: () => toEnd(0),
    End: () => toEnd(-1),
    Enter: enter,
    b: () => toBranch(1),
    B: () => toBranch(-1),
    p: toPeak,
    c: () => view.compareWith(state.compared >= 0 ? state.compared : state.trajectory),
    f: filter,
    w: () => view.openTab(state.isOpen && state.tab === "whatif" ? undefined : "whatif"),
    "?": () => view.openTab("keys"),
    " ": playback.toggle,
    ".": () => playback.step(1),
    ",": () => playback.step(-1),
    "[": () => view.policyBy(-1),
    "]": () => view.policyBy(1),
    "+": () => view.zoom(1.4),
    "=": () => view.zoom(1.4),
    "-": () => view.zoom(1 / 1.4),
    "0": () => view.zoom(0),
    Escape: clear,
  };
  scroller.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const act =
      does[key] ?? (key.length === 1 && key !== "B" ? does[key.toLowerCase()] : undefined);
    if (!act || (key === "Enter" && shiftKey)) return;
    // With nothing to clear it leads out of the tree, as everywhere.
    if (key === "Escape" && !isSomethingToClear()) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
}
