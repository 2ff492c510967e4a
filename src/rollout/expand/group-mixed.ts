import { type Chain, pathTokens } from "./path-tokens.js";

/** How many tokens a branch costs besides those that it draws: keeps the last tokens from being chosen always. */
const base = 5;

/**
 * How much a fork before each drawn token is to teach, per token that it would draw: the expected variance of
 * its outcome, by the outcomes of the first trajectories that share the text so far. 0 where no other one does.
 */
export function groupMixed(
  chains: readonly Chain[],
  right: readonly boolean[],
): (chain: Chain) => Float64Array {
  const firsts = chains.map((chain, i) => ({ ...pathTokens(chain), value: right[i] ? 1 : 0 }));
  const all = (firsts.reduce((sum, { value }) => sum + value, 0) + 0.2) / (firsts.length + 2);
  return (chain) => {
    const { ids, drawn } = pathTokens(chain);
    const values = new Float64Array(ids.length);
    let left = drawn.reduce((sum, one) => sum + one, 0);
    let sharing = firsts;
    for (let t = 0; t < ids.length && sharing.length > 1; t++) {
      if (drawn[t]) {
        const count = sharing.reduce((sum, { value }) => sum + value, 0);
        const q = (count + all) / (sharing.length + 1);
        values[t] = (q * (1 - q)) / (left-- + base);
      }
      sharing = sharing.filter((first) => first.ids[t] === ids[t]);
    }
    return values;
  };
}
