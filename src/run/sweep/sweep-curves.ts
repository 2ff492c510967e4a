import { interpolated } from "../../eval/metrics/interpolated.js";
import { rangeSeen, studentInterval } from "../../eval/metrics/interval.js";
import type { LiveCurve, LiveCurves } from "../../base/show/live-curves.js";
import { type Line, type Measure, measured } from "../folder/measured.js";

/** A run of a sweep: its arm, and the figures of its steps so far. */
interface ArmRun {
  arm: string;
  lines?: readonly Line[];
}

const short = (x: number) => Number(x.toPrecision(5));

const score = "critic/score/mean";

/** More places of a curve nobody can see. */
const mostPlaces = 100;

/** An arm's mean over those of its seeds that have come to a place, at the places where one measured. */
function armCurve(name: string, runs: readonly ArmRun[], measure: Measure): LiveCurve {
  const seeds = runs
    .map(({ lines = [] }) => measured(lines, measure))
    .filter((points) => points.length > 0);
  const all = [...new Set(seeds.flat().map((point) => point.x))].sort((a, b) => a - b);
  const every = Math.ceil(all.length / mostPlaces);
  const x = all.filter((_, i) => (all.length - 1 - i) % every === 0);
  const found = x.map((at) => seeds.flatMap((points) => interpolated(points, at) ?? []));
  const isScore = measure.metric === undefined || measure.metric === score;
  const ends = found.map((values) => studentInterval(values));
  const end = (value: number) => (Number.isNaN(value) ? null : short(value));
  return {
    ...{ name, x, seeds: found.at(-1)?.length ?? 0 },
    y: ends.map(({ mean }) => short(mean)),
    low: ends.map(({ mean, half }) => end(mean - half)),
    high: ends.map(({ mean, half }) => end(mean + half)),
    ...(isScore ? { range: rangeSeen(seeds.flat().map((point) => point.value)) } : {}),
  };
}

/**
 * A curve for every arm: the metric over the cost, as `compareAt` reads them. While no run has measured its
 * held-out score twice, the mean score of the rollouts stands for it. Undefined before the second measurement.
 */
export function sweepCurves(
  runs: readonly ArmRun[],
  measure: Measure = {},
): LiveCurves | undefined {
  const arms = [...new Set(runs.map(({ arm }) => arm))];
  const { x = "tokens", metric } = measure;
  for (const one of metric === undefined ? [undefined, score] : [metric]) {
    const how: Measure = one === undefined ? { x } : { x, metric: one };
    const own = (arm: string) => runs.filter((run) => run.arm === arm);
    const curves = arms.map((arm) => armCurve(arm, own(arm), how));
    if (!curves.some((curve) => curve.x.length > 1)) continue;
    const title =
      one === undefined ? "held-out score" : one === score ? "score of the rollouts" : one;
    return { title, x, curves };
  }
  return undefined;
}
