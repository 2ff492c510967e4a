import { spansOf } from "../tree/paths.js";
import type { TreeFacts } from "../tree/tree-facts.js";

/** What lines trajectories up. */
export type Align = "turns" | "tokens" | "time";

/** Where nodes begin and end from left to right. */
export interface Columns {
  /** Of each node. */
  x0: Float64Array;
  x1: Float64Array;
  /** The last end. */
  end: number;
  /** Pixels of a token of the model; of a chip, after it, and at a branch inside a turn. */
  tokenWidth: number;
  chip: number;
  gap: number;
  cut: number;
  /** Of each turn: where it begins, its widest text in tokens, its chips. */
  turnX: number[];
  turnTokens: number[];
  /** Of each turn the tokens from which a segment is drawn no wider; a break marks it. */
  clip: number[];
  chipX: number[];
  chipWidth: number[];
}

interface ColumnsInput {
  width: number;
  plotWidth: number;
  laneHeight: number;
  isPhone: boolean;
  isNarrow: boolean;
  /** After a chip: where its decision stands. */
  gap: number;
  align: Align;
  zoom: number;
  unfolded: ReadonlySet<number>;
}

const cut = 14;
/** What an unfolded result takes at most: its text is in the panel, too. */
const unfoldedShare = 0.6;
const unfoldedWidth = ({ plotWidth }: ColumnsInput, length: number, perToken: number): number =>
  Math.min(unfoldedShare * plotWidth, length * Math.min(24, Math.max(perToken, 2)));

/**
 * Of each turn the 90th percentile of its segments' tokens, where the longest is more than twice that: one
 * trajectory that never ends must not squeeze all others.
 */
function clipsOf({ tree, turn, turns }: TreeFacts): number[] {
  const lengths = Array.from({ length: turns }, (): number[] => []);
  tree.nodes.forEach(({ kind, length }, i) => {
    if (kind === "model" && length > 0) lengths[turn[i]!]!.push(length);
  });
  return lengths.map((own) => {
    own.sort((a, b) => a - b);
    const most = own[Math.ceil(0.9 * own.length) - 1] ?? 0;
    return (own.at(-1) ?? 0) > 2 * most ? most : Infinity;
  });
}

/** Columns by turn, or along tokens or time. */
export function columnsOf(facts: TreeFacts, input: ColumnsInput): Columns {
  const { tree, turn, turns, split } = facts;
  const { nodes } = tree;
  const turnTokens = new Array<number>(turns).fill(0);
  const cuts = new Array<number>(turns).fill(0);
  const hasTool = new Array<boolean>(turns).fill(false);
  const unfoldedTokens = new Array<number>(turns).fill(0);
  const clip = input.align === "turns" ? clipsOf(facts) : new Array<number>(turns).fill(Infinity);
  const shown = (i: number) => Math.min(nodes[i]!.length, clip[turn[i]!]!);
  // Tokens of the model and cuts in this turn so far, along the path.
  const lengthIn: number[] = [];
  const cutsIn: number[] = [];
  nodes.forEach(({ kind, parent, length }, i) => {
    const t = turn[i]!;
    const inTurn = parent >= 0 && turn[parent] === t && nodes[parent]!.kind === "model";
    const before = inTurn ? lengthIn[parent]! : 0;
    cutsIn[i] = inTurn ? cutsIn[parent]! + (split[parent] ? 1 : 0) : 0;
    lengthIn[i] = before + (kind === "model" ? shown(i) : 0);
    if (kind === "model") {
      cuts[t] = Math.max(cuts[t]!, cutsIn[i]! + (split[i] ? 1 : 0));
      turnTokens[t] = Math.max(turnTokens[t]!, lengthIn[i]!);
    } else if (kind === "tool") {
      hasTool[t] = true;
      if (input.unfolded.has(i)) unfoldedTokens[t] = Math.max(unfoldedTokens[t]!, length);
    }
  });
  const { gap } = input;
  const tools = hasTool.filter(Boolean).length;
  const chip = chipRoom(input, tools, gap);
  const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const room = input.plotWidth - tools * (chip + gap) - sum(cuts) * cut - 8;
  let tokenWidth = room / Math.max(1, sum(turnTokens));
  if (input.align === "tokens") tokenWidth = fitPaths(facts, input.plotWidth, chip + gap);
  tokenWidth = Math.max(0.02, tokenWidth) * input.zoom;

  const turnX: number[] = [];
  const chipX: number[] = [];
  const chipWidth: number[] = [];
  let end = 0;
  for (let t = 0; t < turns; t++) {
    turnX.push(end);
    end += turnTokens[t]! * tokenWidth + cuts[t]! * cut;
    chipX.push(end);
    chipWidth.push(
      hasTool[t] ? Math.max(chip, unfoldedWidth(input, unfoldedTokens[t]!, tokenWidth)) : 0,
    );
    if (hasTool[t]) end += chipWidth[t]! + gap;
  }
  const made: Columns = {
    ...{ x0: new Float64Array(nodes.length), x1: new Float64Array(nodes.length), end },
    ...{ tokenWidth, chip, gap, cut, turnX, turnTokens, clip, chipX, chipWidth },
  };
  if (input.align === "time") return alongTime(facts, input, made);
  const { x0, x1 } = made;
  nodes.forEach(({ kind, parent, length }, i) => {
    const t = turn[i]!;
    const after = parent < 0 ? 0 : x1[parent]!;
    const by = parent < 0 ? undefined : nodes[parent]!;
    if (kind === "tool") {
      x0[i] = (input.align === "turns" && by?.kind !== "tool" ? chipX[t]! : after) + 3;
      const wide = input.unfolded.has(i) ? unfoldedWidth(input, length, tokenWidth) : 0;
      x1[i] = x0[i]! - 3 + Math.max(chip, wide);
      return;
    }
    const joint = by?.kind === "tool" ? gap : split[parent] ? cut : 0;
    const isNewTurn = input.align === "turns" && by?.kind === "tool";
    x0[i] = parent < 0 ? 0 : isNewTurn ? turnX[t]! : after + joint;
    x1[i] = x0[i]! + (kind === "model" ? shown(i) * tokenWidth : 0);
  });
  return { ...made, end: input.align === "turns" ? end : Math.max(0, ...x1) };
}

/** How wide chips are: at most 45% of the plot together, icons where that leaves no room for words. */
function chipRoom(input: ColumnsInput, tools: number, gap: number): number {
  const { isPhone, isNarrow, width, laneHeight, plotWidth } = input;
  const fits = (chip: number) => tools * (chip + gap) <= 0.45 * plotWidth;
  const wanted = laneHeight < 16 ? 12 : isPhone ? 18 : isNarrow ? 62 : width < 960 ? 100 : 132;
  if (wanted <= 20 || fits(wanted)) return wanted;
  return wanted > 70 && fits(66) ? 66 : 20;
}

/** Pixels per token with which the longest path fills the plot. */
function fitPaths({ tree, paths }: TreeFacts, plotWidth: number, perChip: number): number {
  return paths.reduce((least, path) => {
    let [tokens, chips] = [0, 0];
    for (const id of path) {
      const { kind, length } = tree.nodes[id]!;
      if (kind === "model") tokens += length;
      else chips++;
    }
    return Math.min(least, (plotWidth - chips * perChip - 8) / Math.max(1, tokens));
  }, 40);
}

/** Nodes where they were written: everything, chips too, is as long as it took. */
function alongTime({ tree }: TreeFacts, input: ColumnsInput, columns: Columns): Columns {
  const spans = spansOf(tree, "time");
  const longest = spans.reduce((most, { to }) => Math.max(most, to), 1);
  const scale = ((input.plotWidth - 8) / longest) * input.zoom;
  spans.forEach(({ from, to }, i) => {
    // What a fork took over has the times of another rollout: nothing begins before what it follows.
    const before = columns.x1[tree.nodes[i]!.parent] ?? 0;
    columns.x0[i] = Math.max(before, from * scale);
    columns.x1[i] = Math.max(columns.x0[i]!, to * scale);
  });
  return { ...columns, gap: 0, cut: 0, tokenWidth: Math.min(20, scale), end: longest * scale };
}
