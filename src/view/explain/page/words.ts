import { type LossName, lossFacts } from "../../../learn/loss/registry.js";
import type { TokenTerms } from "./token-terms.js";

const say = (x: number) => String(Number(x.toPrecision(5)));

/** What is compared with the bounds, in words. */
function measured(loss: LossName, terms: TokenTerms): [what: string, value: number] {
  const { clips, ratioOf } = lossFacts[loss];
  if (clips === "divergence") {
    const { divergence = NaN } = terms as TokenTerms & { divergence?: number };
    return ["the divergence of its probability,", divergence];
  }
  if (clips === "log ratio") return ["the log ratio", terms.logRatio];
  return [ratioOf ? `the ratio of its ${ratioOf}` : "the ratio", terms.ratio];
}

/** Beyond a bound: what is left of the gradient there. */
function beyond(loss: LossName, terms: TokenTerms): string {
  const { region, low, high, weight } = terms;
  const [what, value] = measured(loss, terms);
  const far = `${what} ${say(value)} is ${region} ${say(region === "above" ? high : low)} already`;
  if (weight === 0) {
    return lossFacts[loss].clips === "divergence"
      ? `${what} ${say(value)} is larger than the bounds allow: the loss drops its gradient.`
      : `${far}: the clip drops its gradient.`;
  }
  return loss === "vanilla"
    ? `${far}. PPO's clip would drop its gradient; entropy-balanced clipping keeps it, with weight ${say(weight)}.`
    : `${far}. PPO's clip would drop its gradient; this loss keeps it, with weight ${say(weight)}.`;
}

function within(loss: LossName, terms: TokenTerms): string {
  const { weight, hold, used, low, high } = terms;
  const { clips } = lossFacts[loss];
  const [what, value] = measured(loss, terms);
  const pulled = hold === 0 ? "" : `, and is pulled back with ${say(Math.abs(hold))}`;
  if (clips === undefined) return `it keeps its gradient, with weight ${say(weight)}${pulled}.`;
  const bound =
    clips === "divergence"
      ? "is allowed"
      : `is ${used > 0 ? "not above" : "not below"} ${say(used > 0 ? high : low)}`;
  return `${what} ${say(value)} ${bound}: it keeps its gradient, with weight ${say(weight)}${pulled}.`;
}

/** What an objective does to a token, in words. */
export function tokenWords(terms: TokenTerms, loss: LossName): string {
  const { ratio, c, used, region, weight, hold } = terms;
  if (used === 0 && hold === 0) {
    return "The advantage is 0: nothing is learned from this token.";
  }
  const goal =
    used > 0 ? "The token is to become more likely" : "The token is to become less likely";
  const place = {
    inside: () => within(loss, terms),
    above: () => beyond(loss, terms),
    below: () => beyond(loss, terms),
    dual: () => `the ratio ${say(ratio)} is above ${say(c)}: the dual clip drops its gradient.`,
    chosen: () =>
      weight === 0
        ? "its advantage and its probability go together: it was drawn among those that lose their gradient."
        : `its advantage and its probability go together the most: besides weight ${say(weight)} it is pulled back with ${say(Math.abs(hold))}.`,
    dropped: () => "its row or its turn takes no part: the loss drops its gradient.",
  }[region]();
  return `${goal} (advantage ${say(used)}), and ${place}`;
}
