/** The name a person most likely meant, undefined when none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.ceil(name.length / 3)) + 1;
  for (const candidate of known) {
    const away = distance(name.toLowerCase(), candidate.toLowerCase());
    if (away < least) [best, least] = [candidate, away];
  }
  return best;
}

/** Letters to insert, delete or exchange, neighbours swapped counting once. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(row[j - 1]! + same, row[j]! + 1, next[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      next.push(cost);
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
