import {
  checkOptions,
  integer,
  oneOf,
  optionsFor,
  type OptionRules,
} from "../../../common/options/check-options.js";
import {
  callConcentration,
  type CallConcentration,
} from "../../measure/entropy/call-concentration.js";
import { entropyByDistance } from "../../measure/entropy/entropy-by-distance.js";
import { entropyRise } from "../../measure/entropy/entropy-rise.js";
import { type ProfiledTree, treesOf } from "../../measure/entropy/model-tokens.js";
import { type EntropyStatisticOptions, statisticRules } from "../../measure/entropy/options.js";
import {
  curve,
  type Figure,
  type FigureOptions,
  figureRules,
  makeFigure,
  paletteOf,
  said,
} from "./figure.js";

export interface EntropyProfileOptions extends FigureOptions, EntropyStatisticOptions {
  /**
   * `calls`: the mean at each distance after a tool result and before a call. `places`: where in
   * their segments the most uncertain tokens stand. Default: `calls`.
   */
  of?: "calls" | "places";
  /** How far the lines of `calls` go. Default 100. */
  distances?: number;
}

const rules: OptionRules<EntropyProfileOptions> = {
  ...figureRules,
  ...statisticRules,
  of: oneOf(["calls", "places"]),
  distances: integer(1),
};

/**
 * Does entropy peak at tool calls? The mean entropy of model tokens by their distance from results and
 * calls, each token once, or the places of the most uncertain ones. The title says what was measured.
 *
 * @param trees one tree or several
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 * import { describe, entropyProfile } from "arpo-lab/view";
 *
 * const tools = new ToolSet([calculator()]);
 * const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], { n: 8, tools });
 * const figure = entropyProfile(trees, { k: 5 });
 * assert.deepEqual(
 *   figure.data.map(({ name }) => name),
 *   ["after a result", "before a call", "all tokens"],
 * );
 * assert.match(describe(figure), /times as often/);
 * assert.equal((entropyProfile(trees, { of: "places" }).data[0].y as number[]).length, 20);
 * ```
 */
export function entropyProfile(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyProfileOptions = {},
): Figure {
  checkOptions("draw an entropy profile", options, rules);
  const list = treesOf("draw an entropy profile", trees);
  const { of = "calls", distances } = options;
  const statistic = optionsFor<EntropyStatisticOptions>(statisticRules, options);
  const found = callConcentration(list, statistic);
  const { temperature = 1 } = list[0]?.config.sampling ?? {};
  const measured = `k ${found.k}, top ${said(100 * found.share)}%, temperature ${temperature}, ${options.forced ? "forced tokens too" : "drawn tokens"}`;
  return of === "calls"
    ? byDistance(list, found, measured, options, { ...statistic, distances })
    : byPlace(found, measured, options);
}

function byDistance(
  trees: readonly ProfiledTree[],
  found: CallConcentration,
  measured: string,
  options: FigureOptions,
  { distances, ...statistic }: EntropyStatisticOptions & { distances?: number },
): Figure {
  const { after, before, mean, tokens } = entropyByDistance(trees, { ...statistic, distances });
  const { againstRest } = entropyRise(trees, statistic);
  const lines = [
    { name: "after a result", points: after },
    { name: "before a call", points: before },
  ];
  const last = Math.max(
    1,
    ...lines.flatMap(({ points }) => points.filter((p) => p.tokens > 0)).map((p) => p.distance),
  );
  const { concentration } = found;
  return makeFigure(
    [
      ...lines.map(({ name, points }, i) => {
        const shown = points.slice(0, last + 1);
        return curve(options, i, {
          name,
          x: shown.map(({ distance }) => distance),
          y: shown.map((point) => point.mean ?? null),
          customdata: shown.map((point) => point.tokens),
          hovertemplate: "%{x} tokens away: %{y:.3f} over %{customdata} tokens",
        });
      }),
      curve(options, 2, { name: "all tokens", x: [0, last], y: [mean ?? null, mean ?? null] }),
    ],
    {
      title: `Does ${found.signal} peak at calls? (${measured})`,
      x: "model tokens away",
      y: `${found.signal} (nats)`,
      description: `The mean ${found.signal} of ${tokens} model tokens is ${saidOr(mean)} nats. Within ${found.k} tokens after a result it differs from the rest of its trajectory by ${saidOr(againstRest.value, againstRest.why)}. The most uncertain tokens stand at calls ${saidOr(concentration.value, concentration.why)} times as often as any.`,
    },
    options,
  );
}

function byPlace(
  { places, unevenness, signal, concentration }: CallConcentration,
  measured: string,
  options: EntropyProfileOptions,
): Figure {
  const { series } = paletteOf(options);
  const x = places.map((_, i) => (i + 0.5) / places.length);
  const even = concentration.count / places.length;
  return makeFigure(
    [
      { type: "bar", name: "most uncertain", x, y: places, marker: { color: series[0] } },
      curve(options, 1, { name: "spread evenly", x, y: x.map(() => even) }),
    ],
    {
      title: `Where in a segment ${signal} is greatest (${measured})`,
      x: "place in the segment",
      y: "tokens",
      description: `Where ${concentration.count} most uncertain tokens stand between two tool results; their distribution differs from an even one by at most ${saidOr(unevenness)}.`,
    },
    options,
  );
}

const saidOr = (value: number | undefined, why = "nothing to tell it from"): string =>
  value === undefined ? `undefined (${why})` : said(value);
