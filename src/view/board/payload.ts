import { fromTo, type OptionRules } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { makePayload } from "../explorer/make-payload.js";
import { liveTree } from "../explorer/live-trees.js";
import type { Theme } from "../../../common/picture/palette.js";
import { themeRule } from "../figures/figure.js";
import { makePanels } from "./make-panels.js";
import { spreadOut } from "../page/spread-out.js";
import type { RunRecord, StepTrees } from "./read-runs.js";
import type { CurvePanel } from "../draw/draw-panel.js";
import type { ExplorerPayload, LiveTree } from "../explorer/payload.js";
import type { TreeToScore } from "../explorer/over-run.js";
import type { WorkStatus } from "../status/payload.js";

/** A step whose rollouts can be opened. */
export interface BoardRollout {
  run: number;
  seed: number;
  step: number;
  label: string;
  /** Name of the data that holds the tree. */
  data: string;
  /** Where a kernel can continue with the tree. */
  live?: LiveTree;
}

/** What a board's page is given, besides the trees. */
export interface BoardPayload {
  title: string;
  runs: { name: string; seeds: number; steps: number }[];
  /** First and last step of all runs. */
  from: number;
  to: number;
  /** How many steps there will be, while a run continues. */
  total?: number;
  /** The step it was stopped after. */
  stopped?: number;
  /** While it goes on. */
  status?: WorkStatus;
  panels: CurvePanel[];
  /** What was found in the rollouts, each once: the newest step's words, and all steps that have it. */
  findings: { title: string; message: string; count: number; steps: number[] }[];
  rollouts: BoardRollout[];
}

/** A tree of the board, by the name of its data. */
export type BoardTrees = Record<string, ExplorerPayload>;

export interface BoardOptions {
  /** What stands above the board. Default: `Training`. */
  title?: string;
  /** Colours: light, dark, or as the page around it. Default: `auto`. */
  theme?: Theme;
  /** Characters that the trees of the scrubber may take; evenly chosen steps are kept (default 2,500,000). */
  rolloutBytes?: number;
  /** For trees from folders that do not say which tokenizer made them. Default: the run's own. */
  tokenizer?: Tokenizer;
  /**
   * Scores the trees that are shown under the checkpoints of their run folder, four trees at most: the step slider then
   * draws one tree under each. It loads every checkpoint. Default: false.
   */
  over?: boolean;
}

export const boardRules: OptionRules<BoardOptions> = {
  title: "text?",
  theme: themeRule,
  rolloutBytes: fromTo(0, Infinity),
  tokenizer: "tokenizer?",
  over: "boolean?",
};

/** What a board shows besides trees. */
export function boardPayload(
  runs: readonly (readonly RunRecord[])[],
  { title = "Training" }: BoardOptions,
): BoardPayload {
  const records = runs.flat();
  const steps = records.flatMap(({ lines }) => lines.map(({ step }) => step));
  const totals = records.flatMap(({ total }) => (total === undefined ? [] : [total]));
  const to = steps.reduce((a, b) => Math.max(a, b), 0);
  const total = totals.reduce((a, b) => Math.max(a, b), 0);
  return {
    title,
    runs: runs.map((seeds) => ({
      name: seeds[0]!.name,
      seeds: seeds.length,
      steps: Math.max(...seeds.map(({ lines }) => lines.at(-1)?.step ?? 0)),
    })),
    from: steps.length === 0 ? 0 : steps.reduce((a, b) => Math.min(a, b), Infinity),
    to,
    ...(total > to ? { total } : {}),
    // Of several runs each may have been stopped elsewhere.
    ...(records.length === 1 ? defined({ stopped: records[0]!.stopped }) : {}),
    panels: makePanels(runs),
    findings: findingsOver(records),
    rollouts: [],
  };
}

/** Steps that a finding names. */
const mostSteps = 12;

/** The findings of all steps by their titles. */
function findingsOver(records: readonly RunRecord[]): BoardPayload["findings"] {
  const found = new Map<string, BoardPayload["findings"][number]>();
  for (const { step, title, message, count } of records.flatMap(({ findings = [] }) => findings)) {
    const steps = found.get(title)?.steps ?? [];
    if (!steps.includes(step)) steps.push(step);
    found.set(title, { title, message, count, steps: steps.slice(-mostSteps) });
  }
  return [...found.values()];
}

interface Place {
  run: number;
  seed: number;
  trees: StepTrees;
}

interface Kept {
  rollouts: BoardRollout[];
  trees: BoardTrees;
  /** The trees that are kept, with their payloads and the folder of their run. */
  scorable: (TreeToScore & { folder: string })[];
}

/** One tree of as many steps as there is room for, the last step's first; folders are not read. */
export function keptTrees(
  runs: readonly (readonly RunRecord[])[],
  options: BoardOptions,
  read: (place: StepTrees) => readonly RolloutTree[] = ({ trees = [] }) => trees,
): Kept {
  const kept: Kept = { rollouts: [], trees: {}, scorable: [] };
  let capacity = options.rolloutBytes ?? 2_500_000;
  for (const place of placesOf(runs)) {
    const added = pickTree(runs, place, read(place.trees), options);
    if (!added) continue;
    capacity -= JSON.stringify(added.payload).length;
    if (capacity < 0 && kept.rollouts.length > 0) break;
    kept.trees[added.rollout.data] = added.payload;
    kept.rollouts.push(added.rollout);
    const { folder } = runs[place.run]![place.seed]!;
    if (folder !== undefined) kept.scorable.push({ ...added, folder });
  }
  kept.rollouts.sort((a, b) => a.step - b.step || a.run - b.run || a.seed - b.seed);
  return kept;
}

/** The same, with the trees of run folders. */
export async function readTrees(
  runs: readonly (readonly RunRecord[])[],
  options: BoardOptions,
): Promise<Kept> {
  const { loadTrees } = await import("../../rollout/files/tree-files.js");
  const { stat } = await import("#platform/files");
  // Long runs keep more rollouts than anybody waits for.
  let capacity = 64e6;
  const found = new Map<StepTrees, readonly RolloutTree[]>();
  for (const { trees } of placesOf(runs)) {
    if (trees.path === undefined) continue;
    capacity -= (await stat(trees.path)).size;
    if (capacity < 0 && found.size > 0) break;
    found.set(trees, await loadTrees(trees.path));
  }
  const kept = keptTrees(runs, options, (place) => place.trees ?? found.get(place) ?? []);
  if (options.over) await scoreKept(kept);
  return kept;
}

/** Trees of a run that are scored under its checkpoints. */
const mostScored = 4;

/** Scores the first trees of each run folder under its checkpoints: the last step's, the first's, one between. */
async function scoreKept({ scorable }: Kept): Promise<void> {
  const { scoreOver } = await import("../explorer/over-run.js");
  for (const folder of new Set(scorable.map((one) => one.folder))) {
    const own = scorable.filter((one) => one.folder === folder).slice(0, mostScored);
    await scoreOver(own, { over: folder });
  }
}

/** Every step of every run that has trees, in an order of which any beginning covers the whole. */
function placesOf(runs: readonly (readonly RunRecord[])[]): Place[] {
  return spreadOut(
    runs.flatMap((seeds, run) =>
      seeds.flatMap((record, seed) => record.trees.map((trees): Place => ({ run, seed, trees }))),
    ),
  );
}

/** The tree of a step that tells most: the one whose trajectories differ most in their scores. */
export function pickTree(
  runs: readonly (readonly RunRecord[])[],
  { run, seed, trees: { step, scored, batch, title } }: Place,
  list: readonly RolloutTree[],
  options: BoardOptions,
) {
  const spread = (tree: RolloutTree) => {
    const own =
      scored?.trajectories.filter(({ trajectory }) => trajectory.tree === tree.index) ?? [];
    const scores = own.map(({ score }) => score.score);
    return scores.length === 0 ? 0 : Math.max(...scores) - Math.min(...scores);
  };
  const [first] = list;
  if (!first) return undefined;
  const tree = list.reduce((best, next) => (spread(next) > spread(best) ? next : best), first);
  const tokenizer = options.tokenizer ?? runs[run]![seed]!.tokenizer;
  const payload = makePayload(tree, {
    ...{ scored, batch, alternativeBytes: 0 },
    tokenizer,
    title,
  });
  const { id = String(tree.index) } = tree.task as { id?: string };
  const data = `tree-${run}-${seed}-${step}`;
  const live = liveTree(tree);
  const rollout: BoardRollout = {
    ...{ run, seed, step, label: `task ${id}`, data },
    ...defined({ live }),
  };
  return { rollout, payload, tree };
}
