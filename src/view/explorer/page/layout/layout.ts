import type { ShownReplay } from "../tree/shown-replay.js";
import type { TreeFacts } from "../tree/tree-facts.js";
import { type Align, columnsOf, type Columns } from "./columns.js";
import { laneOrder, type Filter, type Lane } from "./lane-order.js";

/** What a layout depends on besides the tree. */
export interface LayoutInput {
  width: number;
  maxHeight: number;
  filter: Filter;
  align: Align;
  lanes: "auto" | "small" | "tall";
  zoom: number;
  unfolded: ReadonlySet<number>;
  replay: ShownReplay;
  /** Whether a column has each trajectory's probability ratio. Default: false. */
  hasRatios?: boolean;
}

/** Where everything lies, in pixels from the first token and the top. */
export interface Layout extends Columns {
  align: Align;
  width: number;
  lanes: Lane[];
  laneAt: Map<number, Lane>;
  laneHeight: number;
  /** Left of the first token, right of the plot, and the line of column heads. */
  left: number;
  gutter: number;
  head: number;
  plotWidth: number;
  totalWidth: number;
  totalHeight: number;
  viewHeight: number;
  /** The bar of a decision's chance, 0 for none, and what is left from its mark to the next turn. */
  gauge: number;
  tail: number;
  /** Whether words stand above the bars. */
  hasWords: boolean;
  hasRatios: boolean;
  /** A phone, and a notebook cell. */
  isPhone: boolean;
  isNarrow: boolean;
}

const ghostHeight = 18;
const headHeight = 30;
const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** How wide the column of probability ratios is. */
export const ratioWidth = 96;

/** Lanes so high have words above their bars. */
const wordsFrom = 33;

/** From 24 pixels per token the text stands above the bars. */
export const readingWidth = 24;

/** Lays a tree out. */
export function layOut(facts: TreeFacts, input: LayoutInput): Layout {
  const width = Math.max(220, input.width);
  const lanes = laneOrder(facts, input.filter, input.replay);
  const isPhone = width < 430;
  const isNarrow = width < 760;
  const scored = facts.mean !== undefined || facts.advantages.some((a) => a !== undefined);
  const isAnswered = facts.answers.some((answer) => answer !== "");
  const hasRatios = input.hasRatios === true && scored && !isPhone;
  const own = isPhone ? 74 : isNarrow ? 158 : 246;
  const gutter = !scored ? (isNarrow || !isAnswered ? 12 : 96) : own + (hasRatios ? ratioWidth : 0);
  const left = isPhone ? 36 : 50;
  const count = lanes.filter(({ ghost }) => !ghost).length;
  const fitting = Math.floor(
    clamp((input.maxHeight - headHeight - 16) / Math.max(1, count), 14, isPhone ? 40 : 46),
  );
  let laneHeight = { tall: 40, small: 14, auto: fitting }[input.lanes];
  const plotWidth = width - left - gutter;
  const tail = isPhone ? 6 : 11;
  const gauge = gaugeRoom(facts, input, { plotWidth, laneHeight, isPhone, isNarrow });
  const gap = 2 * tail + (gauge > 0 ? gauge + 4 : 0);
  const columns = columnsOf(facts, {
    ...{ ...input, plotWidth, laneHeight, isPhone, isNarrow, width, gap },
  });
  if (columns.tokenWidth >= readingWidth) laneHeight = Math.max(laneHeight, 46);
  let y = headHeight + 8;
  const laneAt = new Map<number, Lane>();
  for (const lane of lanes) {
    lane.height = lane.ghost ? ghostHeight : laneHeight;
    lane.y = y;
    y += lane.height;
    if (lane.trajectory >= 0) laneAt.set(lane.trajectory, lane);
  }
  const totalHeight = y + 8;
  const extra = Math.min(110, (lanes.length - count) * ghostHeight);
  return {
    ...columns,
    ...{ width, lanes, laneAt, laneHeight, left, gutter, plotWidth, isPhone, isNarrow },
    ...{ gauge: input.align === "time" ? 0 : gauge, tail: columns.gap === 0 ? 0 : tail },
    ...{ hasWords: laneHeight >= wordsFrom, hasRatios },
    ...{ align: input.align, head: headHeight, totalHeight, totalWidth: columns.end + 8 },
    viewHeight: Math.min(totalHeight, input.maxHeight + extra),
  };
}

/** How wide the bar of a decision's chance is: none where no draw decided, or the turns leave no space. */
function gaugeRoom(
  { tree, turn }: TreeFacts,
  { replay, align }: LayoutInput,
  plot: Pick<Layout, "plotWidth" | "laneHeight" | "isPhone" | "isNarrow">,
): number {
  if (replay.chances.size === 0 || align === "time" || plot.laneHeight < 18) return 0;
  const turns = new Set(tree.nodes.flatMap(({ kind }, i) => (kind === "tool" ? [turn[i]] : [])));
  const gauge = plot.isPhone ? 16 : plot.isNarrow ? 18 : 28;
  return turns.size * (gauge + 4) <= 0.2 * plot.plotWidth ? gauge : 0;
}

/** The middle of a mark after a node, or after some tokens of it. */
export function markX(
  { x0, x1, gap, tail, cut }: Layout,
  { tree }: TreeFacts,
  node: number,
  offset?: number,
): number {
  const { kind, length } = tree.nodes[node]!;
  if (offset !== undefined && offset < length) {
    return x0[node]! + ((x1[node]! - x0[node]!) * offset) / length;
  }
  return x1[node]! + (kind === "tool" ? gap - tail : cut / 2);
}
