import type { Random } from "../../random/random.js";
import { inAppoOrder } from "../branch/family/appo.js";
import { at2poExpand } from "../branch/family/at2po.js";
import { anchorCount } from "../branch/family/greatest.js";
import { innerNodes, treeGrpoExpand } from "../branch/family/outline.js";
import type { PlannedChain } from "./plan-chains.js";
import type { ExpansionSettings, SettingsOf } from "../branch/family/settings.js";
import { turnOutlines, type TurnNode } from "./turn-outline.js";
import { pool } from "../branch/family/treerl.js";

/** A place that a trajectory is left at, to make one more trajectory. */
export interface Choice {
  trajectory: number;
  /** Tokens of the response that the new trajectory keeps. */
  at: number;
  score: number;
  /** The place of the token it was chosen for. */
  token?: number;
}

/** What a round's choice depends on besides the trajectories. */
interface RoundState {
  /** The round's own stream. */
  random: Random;
  /** Trajectories that may still be made. */
  budget: number;
  /** FR3E: the trajectories to explore. */
  bases?: readonly number[];
}

/** The trajectories of each tree, in the order of creation. */
function byTree(chains: readonly PlannedChain[]): PlannedChain[][] {
  const trees = new Map<number, PlannedChain[]>();
  for (const chain of chains) trees.set(chain.tree, [...(trees.get(chain.tree) ?? []), chain]);
  return [...trees.values()];
}

/** Rounds of choosing: more than one only where a rule has them. */
export const roundsOf = (settings: ExpansionSettings): number =>
  "rounds" in settings ? settings.rounds : 1;

/** Places of one trajectory that a rule may ask for. */
export function placesWanted(settings: ExpansionSettings, n: number): number {
  switch (settings.rule) {
    case "treerl":
      return settings.points * Math.max(1, settings.upsampling);
    case "fr3e":
      return settings.points;
    default:
      return n;
  }
}

/** Where a rule that looks at whole chains continues from, in order; each choice makes one trajectory. */
export function choosePoints(
  settings: ExpansionSettings,
  chains: readonly PlannedChain[],
  state: RoundState,
): Choice[] {
  switch (settings.rule) {
    case "tree-grpo":
      return turnOutlines(chains).flatMap((root, tree) => {
        const draws = state.random.split(tree);
        const u = Array.from({ length: settings.points }, (_, i) => draws.at(i));
        return treeGrpoExpand(root, u).map((step) => ({
          trajectory: step.trajectory,
          at: step.end,
          score: 0,
        }));
      });
    case "at2po":
      return turnOutlines(oneTree(chains)).flatMap((root) => expandTurns(root, settings, state));
    case "treerl":
      return byTree(chains).flatMap((tree) => drawnAnew(tree, settings));
    case "appo":
      return afterTokens(chains, state.budget);
    case "appo-rollout":
      return chains
        .flatMap(({ id, places }) => places.map((place) => choice(id, place)))
        .slice(0, state.budget);
    case "redraw":
      return inTurn(chains, state.budget);
    case "fr3e":
      return explored(chains, settings, state.bases);
    case "treepo":
    case "spo-tree":
      throw new Error(`Cannot choose tokens: rule ${settings.rule} chooses after every segment`);
  }
}

const choice = (trajectory: number, place: PlannedChain["places"][number]): Choice => ({
  trajectory,
  at: place.at,
  score: place.score,
  token: place.place,
});

/** AT2PO has one tree per prompt, whatever trajectories it starts with. */
const oneTree = (chains: readonly PlannedChain[]): PlannedChain[] =>
  chains.map((chain) => ({ ...chain, tree: chains[0]!.id }));

function expandTurns(root: TurnNode, settings: SettingsOf<"at2po">, state: RoundState): Choice[] {
  const { points, penalty, signal } = settings;
  const chosen =
    signal === "random"
      ? atRandom(innerNodes(root), points, state.random).map((turn) => ({ turn, score: 0 }))
      : at2poExpand(root, points, penalty);
  return chosen.map(({ turn, score }) => ({ trajectory: turn.trajectory, at: turn.start, score }));
}

/** Without replacement where there are enough. */
function atRandom<T>(items: readonly T[], count: number, random: Random): T[] {
  const draws = random.split("turns");
  if (items.length >= count) return draws.shuffle(items).slice(0, count);
  return Array.from({ length: count }, () => draws.choose(items));
}

/** All chosen tokens, then all again, `rows` times. */
function drawnAnew(tree: readonly PlannedChain[], settings: SettingsOf<"treerl">): Choice[] {
  const ranked = tree.map(({ places }, chain) =>
    places.map((place) => ({ ...place, chain, trajectory: tree[chain]!.id })),
  );
  const chosen = pool(ranked, settings).map((place) => choice(place.trajectory, place));
  return Array.from({ length: settings.rows }, () => chosen).flat();
}

function afterTokens(chains: readonly PlannedChain[], budget: number): Choice[] {
  const all = chains.flatMap(({ id, places }) =>
    places.map((place) => ({ ...place, strict: place.strict ?? false, trajectory: id })),
  );
  const taken = inAppoOrder(all).slice(0, budget);
  if (taken.length === 0) return [];
  return Array.from({ length: budget }, (_, i) => {
    const place = taken[i % taken.length]!;
    return choice(place.trajectory, place);
  });
}

/** The best place of each first trajectory, then the second best of each: the best first while they last. */
function inTurn(chains: readonly PlannedChain[], budget: number): Choice[] {
  const turns = Math.max(0, ...chains.map(({ places }) => places.length));
  return Array.from({ length: turns }, (_, turn) =>
    chains
      .flatMap(({ id, places }) => places.slice(turn, turn + 1).map((place) => choice(id, place)))
      .sort((a, b) => b.score - a.score),
  )
    .flat()
    .slice(0, budget);
}

/** From the prompt and before each anchor of the trajectories that are explored, state by state. */
function explored(
  chains: readonly PlannedChain[],
  { points, rows: trajectories }: SettingsOf<"fr3e">,
  bases: readonly number[] | undefined,
): Choice[] {
  const first = chains.filter(
    ({ kind, id }) => kind === "initial" && (bases?.includes(id) ?? true),
  );
  return first.flatMap(({ id, start, places, count }) => {
    const anchors = places
      .slice(0, anchorCount(count, points))
      .map((place) => choice(id, place))
      .sort((a, b) => a.at - b.at);
    const states: Choice[] = [{ trajectory: id, at: start, score: 0 }, ...anchors];
    return states.flatMap((state) => Array.from({ length: trajectories }, () => state));
  });
}
