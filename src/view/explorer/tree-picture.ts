import { figureTheme } from "../draw/figure-theme.js";
import { measureOf, quantitiesOf } from "./page/draw/measures.js";
import { BinCache } from "./page/draw/scene.js";
import { wholeSvg } from "./page/draw/whole-tree.js";
import { layOut } from "./page/layout/layout.js";
import { ownSettings, replayOf } from "./page/tree/shown-replay.js";
import { summaryOf } from "./page/tree/header-words.js";
import { factsOf } from "./page/tree/tree-facts.js";
import { unpackTree } from "./page/tree/unpack-tree.js";
import type { ExplorerPayload } from "./payload.js";

const [width, tallest] = [900, 900];
/** A saved notebook holds the picture twice. */
const mostBars = 3000;

/** A tree as one picture, drawn as the explorer draws it: for files, and for pages that run no program. */
export function treePicture(payload: ExplorerPayload): string {
  const facts = factsOf(unpackTree(payload));
  const { tree } = facts;
  const replay = replayOf(tree, ownSettings(tree));
  const layout = layOut(facts, {
    ...{ width, maxHeight: 590, filter: "all", align: "turns", lanes: "auto", zoom: 1 },
    ...{ unfolded: new Set<number>(), replay },
  });
  const shown = layout.lanes.filter(({ y, height }) => y + height <= tallest).length;
  const end = layout.lanes[shown];
  const height = end ? end.y : layout.totalHeight;
  const bars = shown * layout.plotWidth;
  const measure = measureOf(tree, quantitiesOf(tree)[0]!, "sqrt");
  const left = layout.lanes.length - shown;
  const summary = summaryOf(facts, replay);
  return wholeSvg(
    {
      ...{ facts, layout, measure, replay, unfolded: new Set<number>(), heat: undefined },
      theme: figureTheme(),
      bins: new BinCache(facts, measure, Math.max(1, bars / mostBars)),
      ...{ selected: -1, token: -1, path: -1, compared: -1, hoveredMark: -1, focusedMark: -1 },
      ...{ pill: undefined, passed: undefined, moment: undefined, yOf: ({ y }) => y },
      view: { x: 0, y: 0, width: layout.left + layout.totalWidth + layout.gutter, height },
    },
    left > 0 ? `${summary} · ${left} more trajectories are left out here` : summary,
  );
}
