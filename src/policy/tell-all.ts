import type { GeneratedToken, Segment } from "./policy.js";
import { tokenSupport } from "./token-sets.js";

/** Tells of every token of a segment. */
export function tellAll(
  { tokens, logprobs, entropies, top, support }: Segment,
  tell: (token: GeneratedToken) => void,
): void {
  const { width } = top;
  for (const [i, token] of tokens.entries()) {
    const [from, to] = [i * width, (i + 1) * width];
    const here = { ids: top.ids.slice(from, to), logprobs: top.logprobs.slice(from, to) };
    tell({
      ...{ token, logprob: logprobs[i]!, entropy: entropies[i]!, top: here },
      ...(support && { support: tokenSupport(support, i) }),
    });
  }
}
