import type { Random } from "../../random/random.js";

/**
 * TreeRL's choice of the leaves it trains on: the first right one in a random order, then any others; or
 * with `balance` first as many right and as many wrong ones as that share of the number says.
 */
export function chooseLeaves(
  right: readonly boolean[],
  count: number,
  random: Random,
  balance = 0,
): number[] {
  const order = random.split("order").shuffle(right.map((_, leaf) => leaf));
  const most = balance > 0 ? Math.floor(count * balance) : 1;
  let wrong = balance > 0 ? most : 0;
  let good = most;
  const chosen: number[] = [];
  const rest: number[] = [];
  for (const leaf of order) {
    if (right[leaf] ? good-- > 0 : wrong-- > 0) chosen.push(leaf);
    else rest.push(leaf);
  }
  const others = random.split("others").shuffle(rest);
  chosen.push(...others.slice(0, Math.max(0, count - chosen.length)));
  return random.split("trained").shuffle(chosen).slice(0, count);
}
