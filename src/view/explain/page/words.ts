import type { TokenTerms } from "./token-terms.js";

/** What an objective does to a token, in words. */
export function tokenWords(terms: TokenTerms): string {
  const { ratio, low, high, c, used, region, weight } = terms;
  const say = (x: number) => String(Number(x.toPrecision(5)));
  if (used === 0) return "The advantage is 0: nothing is learned from this token.";
  const goal = used > 0 ? "The token is to become likelier" : "The token is to become less likely";
  const place = {
    inside: `the ratio ${say(ratio)} is ${used > 0 ? "not above" : "not below"} ${say(used > 0 ? high : low)}: it keeps its gradient, with weight ${say(weight)}.`,
    above:
      weight > 0
        ? `the ratio ${say(ratio)} is above ${say(high)} already. PPO's clip would drop its gradient; entropy-balanced clipping keeps it, with weight ${say(weight)}.`
        : `the ratio ${say(ratio)} is above ${say(high)} already: the clip drops its gradient.`,
    below: `the ratio ${say(ratio)} is below ${say(low)} already: the clip drops its gradient.`,
    dual: `the ratio ${say(ratio)} is above ${say(c)}: the dual clip drops its gradient.`,
  }[region];
  return `${goal} (advantage ${say(used)}), and ${place}`;
}
