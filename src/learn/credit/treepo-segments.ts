import { mean } from "../advantage/estimator.js";
import { type CreditSum, short } from "./credit.js";
import { perGroup, populationDeviation } from "./group-norm.js";

/** All beginnings of a path, from the prompt to the leaf. */
const beginnings = (path: readonly string[]): string[] =>
  path.map((_, i) => path.slice(0, i + 1).join("#"));

/** A row against the means of all groups it is in, its own of one too, weighed by their sizes. */
function leafValues(score: readonly number[], ways: readonly string[][]): number[] {
  const pools = new Map<string, number[]>();
  ways.forEach((way, row) => {
    for (const name of way) pools.set(name, [...(pools.get(name) ?? []), score[row]!]);
  });
  const about = new Map(
    [...pools].map(([name, pool]) => [name, [mean(pool), pool.length] as const]),
  );
  return score.map((reward, row) => {
    let weighted = 0;
    let all = 0;
    for (const name of ways[row]!) {
      const [centre, size] = about.get(name)!;
      weighted += (reward - centre) * size;
      all += size;
    }
    return weighted / all;
  });
}

/** The value of every beginning: a leaf's own, else the mean of its children's; a prompt's is 0. */
function nodeValues(leaf: readonly number[], ways: readonly string[][]): Map<string, number> {
  const values = new Map<string, number>();
  ways.forEach((way, row) => values.set(way.at(-1)!, leaf[row]!));
  const deepest = Math.max(...ways.map((way) => way.length - 1));
  const depth = new Map(ways.flatMap((way) => way.map((name, i) => [name, i] as const)));
  const above = new Map(ways.flatMap((way) => way.map((name, i) => [name, way[i - 1]] as const)));
  for (let d = deepest; d > 1; d--) {
    const own = [...values.keys()].filter((name) => depth.get(name) === d);
    const pools = perGroup(
      own.map((name) => above.get(name)!),
      own.map((name) => values.get(name)!),
    );
    for (const [name, pool] of pools) values.set(String(name), mean(pool));
  }
  return values;
}

/** np.isclose to 0. */
const nothing = 1e-8;

/** Values among siblings over their population deviation; an only child keeps its own. */
function amongSiblings(
  values: Map<string, number>,
  ways: readonly string[][],
): Map<string, number> {
  const above = new Map(
    ways.flatMap((way) => way.slice(1).map((name, i) => [name, way[i]!] as const)),
  );
  const names = [...values.keys()].filter((name) => above.has(name));
  const out = new Map(values);
  for (const siblings of perGroup(
    names.map((name) => above.get(name)!),
    names,
  ).values()) {
    if (siblings.length < 2) continue;
    const own = siblings.map((name) => values.get(name)!);
    const centre = mean(own);
    const width = populationDeviation(own);
    siblings.forEach((name, i) => out.set(name, width <= nothing ? 0 : (own[i]! - centre) / width));
  }
  return out;
}

/** For every row the sums of its segments: what each is worth, less what the one before it is. */
export function segmentSums(
  score: readonly number[],
  paths: readonly (readonly string[])[],
  { form, parentDecay = -1 }: { form: "segment" | "spo"; parentDecay?: number },
): CreditSum[][] {
  const ways = paths.map(beginnings);
  const values =
    form === "spo"
      ? amongSiblings(nodeValues(score, ways), ways)
      : nodeValues(leafValues(score, ways), ways);
  for (const way of ways) values.set(way[0]!, 0);
  return ways.map((way) =>
    way.slice(1).map((name, i): CreditSum => {
      const own = values.get(name) ?? 0;
      const parent = values.get(way[i]!) ?? 0;
      const decay =
        form === "segment" && parentDecay > 0 ? parentDecay ** (way.length - (i + 1)) : 1;
      return {
        terms: [
          { name: "worth of the segment", value: own },
          {
            name: "worth of its parent",
            value: -decay * parent,
            ...(decay === 1 ? {} : { from: `-${short(decay)} * ${short(parent)}` }),
          },
        ],
        factors: [],
      };
    }),
  );
}
