import type { Theme } from "../../draw/theme.js";
import { entropyLevel, type Measure, measureOf } from "../../explorer/page/draw/measures.js";
import { BinCache, type Moment, type Scene } from "../../explorer/page/draw/scene.js";
import { layOut } from "../../explorer/page/layout/layout.js";
import { ownSettings, replayOf, type ShownReplay } from "../../explorer/page/tree/shown-replay.js";
import { type PolicySteps, readPolicies } from "../../explorer/page/tree/policy-steps.js";
import { factsOf, type TreeFacts } from "../../explorer/page/tree/tree-facts.js";
import { unpackTree } from "../../explorer/page/tree/unpack-tree.js";
import { type WordCard, wordCards } from "../../explorer/page/tree/word-cards.js";
import type { LoopPayload } from "../payload.js";

/** The four acts, from 1 on. */
export const acts = ["Hesitate", "Branch", "Compare", "Learn"] as const;

/** A loop as it is drawn, on a page and in a file. */
export interface ShownLoop extends PolicySteps {
  payload: LoopPayload;
  facts: TreeFacts;
  replay: ShownReplay;
  cards: WordCard[];
  measure: Measure;
  /** How high an entropy stands, alike after every update. */
  level: (entropy: number) => number;
  /** When everything appears, and how far each act goes. */
  moment: Omit<Moment, "at">;
  ends: readonly [hesitate: number, branch: number, compare: number];
}

/** Reads a loop. */
export function showLoop(payload: LoopPayload): ShownLoop {
  const tree = unpackTree(payload.tree);
  const facts = factsOf(tree);
  const cards = wordCards(facts);
  const steps = readPolicies(facts, cards, payload, payload.updates + 1);
  const most = steps.all.reduce((greatest, x) => (x > greatest ? x : greatest), 1);
  return {
    ...{ ...steps, payload, facts, cards, replay: replayOf(tree, ownSettings(tree)) },
    measure: measureOf(tree, "entropy", "sqrt", steps.all),
    level: entropyLevel("sqrt", most, steps.all),
    ...momentsOf(facts),
  };
}

/** The first trajectories write turn by turn, then the branches, then all are scored. */
function momentsOf(facts: TreeFacts): Pick<ShownLoop, "moment" | "ends"> {
  const { tree, turn, turns, above } = facts;
  const hesitate = 2 * turns;
  const branch = 2 * hesitate;
  const born = new Float32Array(tree.nodes.length);
  const isFirst = (node: number) => above[Math.max(0, tree.nodes[node]!.trajectory)]! < 0;
  tree.nodes.forEach(({ kind }, i) => {
    born[i] = 2 * turn[i]! + (kind === "tool" ? 1 : 0) + (isFirst(i) ? 0 : hesitate);
  });
  const laneBorn = Float32Array.from(above, (own) => (own < 0 ? -1 : hesitate));
  const decided = new Map(tree.nodes.map((_, i) => [i, hesitate + 0.01]));
  const told = branch + 0.01;
  const moment = { born, laneBorn, decided, scored: told, advanced: told };
  return { moment, ends: [hesitate, branch, branch + 1] };
}

/** Where a loop stands. */
export interface LoopPlace {
  /** How far the tree has grown: `ends` of the acts. */
  at: number;
  /** Updates that are done, and between them. */
  step: number;
  hasRatios: boolean;
}

/** The loop's tree at a place, ready to be drawn. */
export function loopScene(
  loop: ShownLoop,
  { at, step, hasRatios }: LoopPlace,
  { width, maxHeight, theme }: { width: number; maxHeight: number; theme: Theme },
): Scene {
  const { facts, replay, moment, ends } = loop;
  const layout = layOut(facts, {
    ...{ width, maxHeight, filter: "all", align: "turns", lanes: "auto", zoom: 1 },
    ...{ unfolded: new Set<number>(), replay, hasRatios: true },
  });
  const now = loop.entropiesAt(step);
  const measure: Measure = { ...loop.measure, level: (token) => loop.level(now[token]!) };
  return {
    ...{ facts, layout, measure, theme, replay, bins: new BinCache(facts, measure) },
    ...{ heat: undefined, selected: -1, token: -1, path: -1, compared: -1 },
    ...{ hoveredMark: -1, focusedMark: -1, pill: undefined, passed: undefined },
    ...{ unfolded: new Set<number>(), yOf: ({ y }) => y },
    ...(hasRatios ? { logRatios: loop.logRatiosAt(step) } : {}),
    moment: at >= ends[2] ? undefined : { ...moment, at },
    view: {
      ...{ x: 0, y: 0, height: layout.totalHeight },
      width: layout.left + layout.totalWidth + layout.gutter,
    },
  };
}
