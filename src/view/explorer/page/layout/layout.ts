import { chipForms, chipWords } from "../tree/chip-words.js";
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
  /** How wide a chip's text is. */
  measure: (text: string) => number;
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
  /** A phone, and a notebook cell. */
  isPhone: boolean;
  isNarrow: boolean;
  /** The wording of each turn's chips: a place in `chipForms`. */
  forms: number[];
}

const ghostHeight = 18;
const headHeight = 30;
const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** From 24 pixels per token the text stands above the bars. */
export const readingWidth = 24;

/** Lays a tree out. */
export function layOut(facts: TreeFacts, input: LayoutInput): Layout {
  const width = Math.max(280, input.width);
  const lanes = laneOrder(facts, input.filter, input.replay);
  const isPhone = width < 430;
  const isNarrow = width < 760;
  const scored = facts.mean !== undefined || facts.advantages.some((a) => a !== undefined);
  const isAnswered = facts.answers.some((answer) => answer !== "");
  const gutter = !scored
    ? isNarrow || !isAnswered
      ? 12
      : 96
    : isPhone
      ? 74
      : isNarrow
        ? 158
        : 246;
  const left = isPhone ? 36 : 50;
  const count = lanes.filter(({ ghost }) => !ghost).length;
  const fitting = Math.floor(
    clamp((input.maxHeight - headHeight - 16) / Math.max(1, count), 14, isPhone ? 26 : 34),
  );
  let laneHeight = { tall: 40, small: 14, auto: fitting }[input.lanes];
  const plotWidth = width - left - gutter;
  const columns = columnsOf(facts, { ...input, plotWidth, laneHeight, isPhone, isNarrow, width });
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
    ...{ align: input.align, head: headHeight, totalHeight, totalWidth: columns.end + 8 },
    viewHeight: Math.min(totalHeight, input.maxHeight + extra),
    forms: formsOf(facts, columns.chip - 26, input.measure),
  };
}

/** Of each turn the longest wording that nine in ten of its chips have room for. */
function formsOf(
  { tree, turn, turns }: TreeFacts,
  room: number,
  measure: LayoutInput["measure"],
): number[] {
  const words = Array.from({ length: turns }, (): ReturnType<typeof chipWords>[] => []);
  tree.nodes.forEach((node, i) => {
    const own = words[turn[i]!]!;
    if (node.kind === "tool" && own.length < 80) own.push(chipWords(tree, node));
  });
  return words.map((own) => {
    const fits = chipForms.findIndex(
      (form) => own.filter((each) => measure(form(each)) <= room).length >= 0.9 * own.length,
    );
    return fits < 0 ? chipForms.length - 1 : fits;
  });
}

/** The middle of a mark after a node, or after some tokens of it. */
export function markX(
  { x0, x1, gap, cut }: Columns,
  { tree }: TreeFacts,
  node: number,
  offset?: number,
): number {
  const { kind, length } = tree.nodes[node]!;
  if (offset !== undefined && offset < length) {
    return x0[node]! + ((x1[node]! - x0[node]!) * offset) / length;
  }
  return x1[node]! + (kind === "tool" ? gap : cut) / 2;
}
