import { binsOf, levelsOf, type Measure } from "./measures.js";
import { type Layout, readingWidth } from "../layout/layout.js";
import type { Lane } from "../layout/lane-order.js";
import type { ShownReplay } from "../tree/shown-replay.js";
import type { TreeFacts } from "../tree/tree-facts.js";
import type { HeatLayer } from "./heat-layer.js";
import type { Theme } from "../../../draw/theme.js";

/** How far a playback has come. */
export interface Moment {
  /** The event, and how far into it: 2.5 is half through the third. */
  at: number;
  /** The event in which each node is written, each trajectory begins and each decision falls. */
  born: Float32Array;
  laneBorn: Float32Array;
  decided: Map<number, number>;
  scored: number;
  advanced: number;
}

/** What a drawing of the tree depends on. */
export interface Scene {
  facts: TreeFacts;
  layout: Layout;
  measure: Measure;
  theme: Theme;
  replay: ShownReplay;
  bins: BinCache;
  /** What many thin bars are written to; undefined for vectors. */
  heat: HeatLayer | undefined;
  /** The node and its token that are looked at; -1 for none. */
  selected: number;
  token: number;
  /** The trajectory whose path is highlighted, and the one it is compared with; -1 for none. */
  path: number;
  compared: number;
  /** A mark under the pointer, and one that playback or B has come to, with its words. */
  hoveredMark: number;
  focusedMark: number;
  pill: string | undefined;
  /** Nodes on the paths that pass the filter; undefined for all. */
  passed: Set<number> | undefined;
  unfolded: ReadonlySet<number>;
  /** Each trajectory's log probability ratio, now over before; a column shows it where it is there. */
  logRatios?: Float64Array;
  moment: Moment | undefined;
  /** Where a lane is drawn: it moves there when the layout changes. */
  yOf: (lane: Lane) => number;
  /** The part in view. */
  view: { x: number; y: number; width: number; height: number };
}

/** Bars of nodes at the width they have now. */
export class BinCache {
  readonly #bins = new Map<number, Float32Array>();
  readonly #coarse = new Map<number, Float32Array>();
  #levels: Float32Array | undefined;

  constructor(
    readonly facts: TreeFacts,
    readonly measure: Measure,
    /** How wide a bar is at least. */
    readonly least = 1,
  ) {}

  /** As many bars as tokens, or as pixels where these are fewer. */
  of(node: number, width: number): Float32Array {
    const { length } = this.facts.tree.nodes[node]!;
    const count = Math.max(1, Math.min(length, Math.ceil(width / this.least)));
    let bins = this.#bins.get(node);
    if (bins?.length !== count) {
      bins = this.#gathered(node, count);
      this.#bins.set(node, bins);
    }
    return bins;
  }

  /** A few bars, the same at every zoom. */
  coarse(node: number): Float32Array {
    let bins = this.#coarse.get(node);
    if (!bins) {
      bins = this.#gathered(node, Math.max(1, Math.min(this.facts.tree.nodes[node]!.length, 64)));
      this.#coarse.set(node, bins);
    }
    return bins;
  }

  #gathered(node: number, count: number): Float32Array {
    const { tree } = this.facts;
    this.#levels ??= levelsOf(tree, this.measure);
    return binsOf(tree.nodes[node]!, this.#levels, this.measure.gather, count);
  }
}

/** How much of a node is written at the moment: 0 to 1. */
export const written = ({ moment }: Scene, node: number): number =>
  moment ? Math.max(0, Math.min(1, moment.at - moment.born[node]!)) : 1;

/** Whether a trajectory has begun at the moment. */
export const begun = ({ moment }: Scene, trajectory: number): boolean =>
  !moment || moment.at > moment.laneBorn[trajectory]!;

/** Whether right and wrong are told at the moment. */
export const isTold = ({ moment, facts }: Scene): boolean =>
  facts.mean !== undefined && (!moment || moment.at >= moment.scored);

/** Pixels from the left of the view for a place along the tree. */
export const across = ({ layout, view }: Scene, x: number): number => layout.left + x - view.x;

/** Half the room a lane's bars take, and from where to where. */
export function barRoom(
  layout: Layout,
  y: number,
  height: number,
): { top: number; bottom: number } {
  const isSmall = height < 16;
  const isRead = layout.tokenWidth >= readingWidth;
  const above = isRead ? 20 : isSmall ? 1 : layout.hasWords ? 16 : Math.max(2, height * 0.1);
  return { top: y + above, bottom: y + height - (isSmall ? 1 : Math.max(2, height * 0.14)) };
}

/** How tall a chip is in a lane. */
export const chipHeight = (height: number): number => Math.min(20, height - (height < 16 ? 4 : 6));
