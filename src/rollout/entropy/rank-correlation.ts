/** Spearman's rank correlation, ties averaged; undefined for fewer than two pairs or where nothing varies. */
export function rankCorrelation(x: readonly number[], y: readonly number[]): number | undefined {
  const [a, b] = [ranks(x), ranks(y)];
  const middle = (x.length + 1) / 2;
  let [both, own, other] = [0, 0, 0];
  a.forEach((rank, i) => {
    both += (rank - middle) * (b[i]! - middle);
    own += (rank - middle) ** 2;
    other += (b[i]! - middle) ** 2;
  });
  return own > 0 && other > 0 ? both / Math.sqrt(own * other) : undefined;
}

/** Places from 1 in rising order; equal values share the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]!);
  const found = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to++;
    for (let i = from; i < to; i++) found[order[i]!] = (from + 1 + to) / 2;
    from = to;
  }
  return found;
}
