import type { TrainingBatch } from "../../learn/batch.js";
import type { ClipRegion } from "../../learn/losses/base/token-rule.js";
import type { TokenUpdate } from "../../learn/losses/token-update.js";
import type { UpdateReport } from "../../learn/update/update-report.js";
import { teacherGaps } from "../../learn/distillation/teacher-gaps.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { packIntegers, packNumbers, packVocabulary } from "../page/pack.js";
import type { PackedNumbers } from "../page/pack.js";
import { numberText } from "../page/words.js";
import type { TokenQuantity } from "./quantities.js";

/** The same tokens under one set of settings. */
export interface TokenPanel {
  name: string;
  quantities: Partial<Record<TokenQuantity, PackedNumbers>>;
  /** Places in `regions`, one per token. */
  region: string;
  /** Places in `vocabulary`, where the panel has other words than the trajectories. */
  tokens?: string;
}

/** What a token view's page is given. */
export interface TokenPayload {
  /** In words, for each panel and for what differs. */
  summary: string[];
  /** What clipping can do to a token, by number; the last is "not trained". */
  regions: string[];
  vocabulary: string[];
  tokens: string;
  wide: boolean;
  rows: { label: string; start: number; length: number }[];
  panels: TokenPanel[];
  /** Tokens whose gradient weight is not the same in all panels. */
  differs: number[];
}

const regions: readonly (ClipRegion | "not trained")[] = [
  "inside",
  "above",
  "below",
  "dual",
  "chosen",
  "dropped",
  "not trained",
];

/** The gap to a teacher at each token, and its sum over the turn. */
function gapsOf(row: TrainingBatch["trajectories"][number]): { gap: number[]; turn: number[] } {
  const { lossMask } = row.trajectory;
  const gap = teacherGaps(row);
  const turn = [...gap];
  for (let from = 0; from < gap.length; from++) {
    let to = from;
    while (to < gap.length && lossMask[to]) to++;
    const whole = gap.slice(from, to).reduce((sum, value) => sum + value, 0);
    turn.fill(whole, from, to);
    from = to;
  }
  return { gap, turn };
}

/**
 * The tokens of a batch under reports of it, or before any, as a token view's page reads them. Trajectories
 * in which reports differ come first.
 */
export function tokenPayload(
  batch: TrainingBatch,
  reports: readonly { name: string; report: UpdateReport }[],
  summary: string[],
  tokenizer: Tokenizer | undefined = batch.scored?.trees[0]?.tokenizer,
): TokenPayload {
  const differing = (row: TrainingBatch["trajectories"][number]): number[] => {
    const [first = [], ...others] = reports.map(({ report }) => report.tokens(row));
    return [...first.keys()].filter((t) =>
      others.some((own) => own[t]?.weight !== first[t]?.weight),
    );
  };
  const isAlike = (row: TrainingBatch["trajectories"][number]) =>
    Number(differing(row).length === 0);
  const rows = batch.trajectories.toSorted((a, b) => isAlike(a) - isAlike(b));
  let total = 0;
  const places = rows.map(({ trajectory, group, reward }) => {
    const start = total;
    const { length } = trajectory.tokens;
    total += length;
    const label = `task ${group}, trajectory ${trajectory.id}, score ${numberText(reward, 3)}`;
    return { label, start, length };
  });
  const { vocabulary, place } = packVocabulary(tokenizer);
  const tokens = rows.flatMap(({ trajectory }) => Array.from(trajectory.tokens, place));
  const gather = (read: (row: (typeof rows)[number], t: number) => number) =>
    packNumbers(
      Float32Array.from(
        rows.flatMap((row) =>
          Array.from(row.trajectory.tokens, (_, t) =>
            row.trajectory.lossMask[t] ? read(row, t) : NaN,
          ),
        ),
      ),
    );
  const advantage = gather((row, t) => row.advantages[t]!);
  const entropy = gather((row, t) => (row.entropies ?? row.trajectory.entropies)[t]!);
  const isTaught = rows.some((row) => row.teacherLogprobs !== undefined);
  const gaps = isTaught ? rows.map(gapsOf) : [];
  const taught = isTaught && {
    gap: packNumbers(Float32Array.from(gaps.flatMap(({ gap }) => gap))),
    turn: packNumbers(Float32Array.from(gaps.flatMap(({ turn }) => turn))),
  };
  // What the gradient does to the token: up or down, and how strongly.
  const given = rows.flatMap((row) => Array.from(row.advantages));
  const panels = reports.map(({ name, report }): TokenPanel => {
    const updates = rows.flatMap((row) => report.tokens(row));
    const numbers = (read: (update: TokenUpdate) => number) =>
      packNumbers(Float32Array.from(updates, (update) => (update ? read(update) : NaN)));
    const region = updates.map((update) => regions.indexOf(update?.region ?? "not trained"));
    return {
      name,
      region: packIntegers(region, false),
      quantities: {
        push: packNumbers(Float32Array.from(updates, (u, i) => (u ? u.weight * given[i]! : NaN))),
        weight: numbers((update) => update.weight),
        ratio: numbers((update) => update.ratio),
        ...taught,
        advantage,
        entropy,
      },
    };
  });
  if (panels.length === 0) {
    // Before an update there is nothing that clipping did.
    const region = rows.flatMap(({ trajectory }) =>
      Array.from(trajectory.tokens, (_, t) => (trajectory.lossMask[t] ? 0 : regions.length - 1)),
    );
    const quantities = { ...taught, advantage, entropy };
    panels.push({ name: "advantages", region: packIntegers(region, false), quantities });
  }
  const wide = tokens.some((value) => value > 65535);
  return {
    ...{ summary, vocabulary, wide, panels },
    differs: rows.flatMap((row, i) => differing(row).map((t) => places[i]!.start + t)),
    regions: [...regions],
    tokens: packIntegers(tokens, wide),
    rows: places,
  };
}
