/** How many places of a text each letter stands at; letters of long texts that are everywhere are left out. */
function placesOf(text: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  text.forEach((letter, i) => {
    const list = places.get(letter);
    if (list) list.push(i);
    else places.set(letter, [i]);
  });
  if (text.length >= 200) {
    const most = Math.floor(text.length / 100) + 1;
    for (const [letter, list] of places) if (list.length > most) places.delete(letter);
  }
  return places;
}

/** A stretch that two texts have in common. */
interface Match {
  a: number;
  b: number;
  size: number;
}

/**
 * How alike two texts are: twice the letters that match in order over all letters, by Python's
 * `difflib.SequenceMatcher(None, a, b).ratio()`, its leaving out of popular letters included.
 */
export function similarity(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  if (a.length + b.length === 0) return 1;
  const places = placesOf(b);

  const longest = (alo: number, ahi: number, blo: number, bhi: number): Match => {
    let best: Match = { a: alo, b: blo, size: 0 };
    let lengths = new Map<number, number>();
    for (let i = alo; i < ahi; i++) {
      const next = new Map<number, number>();
      for (const j of places.get(a[i]!) ?? []) {
        if (j < blo) continue;
        if (j >= bhi) break;
        const size = (lengths.get(j - 1) ?? 0) + 1;
        next.set(j, size);
        if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
      }
      lengths = next;
    }
    // Letters that were left out may still widen what was found.
    while (best.a > alo && best.b > blo && a[best.a - 1] === b[best.b - 1]) {
      best = { a: best.a - 1, b: best.b - 1, size: best.size + 1 };
    }
    while (
      best.a + best.size < ahi &&
      best.b + best.size < bhi &&
      a[best.a + best.size] === b[best.b + best.size]
    ) {
      best = { ...best, size: best.size + 1 };
    }
    return best;
  };

  let matched = 0;
  const open: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let part = open.pop(); part; part = open.pop()) {
    const [alo, ahi, blo, bhi] = part;
    const found = longest(alo, ahi, blo, bhi);
    if (found.size === 0) continue;
    matched += found.size;
    open.push([alo, found.a, blo, found.b]);
    open.push([found.a + found.size, ahi, found.b + found.size, bhi]);
  }
  return (2 * matched) / (a.length + b.length);
}
