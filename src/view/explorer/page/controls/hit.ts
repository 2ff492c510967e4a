import { marksOf } from "../draw/draw-marks.js";
import { markX } from "../layout/layout.js";
import type { Ghost } from "../tree/shown-replay.js";
import type { ExplorerView } from "../view.js";

/** What lies under the pointer. */
export interface Hit {
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
export function hitAt(view: ExplorerView, clientX: number, clientY: number): Hit | undefined {
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
      if (Math.abs(along - at) < reach) return { trajectory, node, isMark: true };
    }
    if (along >= layout.x0[node]! - 1 && along <= layout.x1[node]! + 1) found = node;
  }
  if (found === undefined) return { trajectory };
  const { kind, length } = facts.tree.nodes[found]!;
  const share = (along - layout.x0[found]!) / Math.max(1e-9, layout.x1[found]! - layout.x0[found]!);
  const token = Math.max(0, Math.min(length - 1, Math.floor(share * length)));
  return { trajectory, node: found, token: kind === "model" && length > 0 ? token : -1 };
}
