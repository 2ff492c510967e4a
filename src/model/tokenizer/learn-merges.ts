/** A pair waiting in the queue with the count it had when it was put there. */
interface Waiting {
  left: number;
  right: number;
  count: number;
}

/** More frequent first; among equals the pair of older pieces. */
const before = (a: Waiting, b: Waiting) =>
  a.count !== b.count ? a.count > b.count : a.left !== b.left ? a.left < b.left : a.right < b.right;

/** A binary heap. */
class Queue {
  readonly #items: Waiting[] = [];

  push(item: Waiting): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(item, items[parent]!)) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  pop(): Waiting | undefined {
    const items = this.#items;
    const first = items[0];
    const item = items.pop();
    if (item === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++;
      if (!before(items[child]!, item)) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = item;
    return first;
  }
}

const shift = 2 ** 24;

/**
 * Learns byte-pair merges: joins the most frequent adjacent pair of pieces until `pieces` has
 * `size` entries or no pair is frequent enough. Counts are kept up to date only where a merge changed
 * something, so time goes with the changes and not with merges x words.
 *
 * `words` (as ids into `pieces`) and `pieces` are changed.
 */
export function learnMerges(
  words: readonly { ids: number[]; count: number }[],
  pieces: string[],
  size: number,
  minFrequency: number,
): [string, string][] {
  const idOf = new Map(pieces.map((piece, id) => [piece, id]));
  const counts = new Map<number, number>();
  const places = new Map<number, Set<number>>();
  const count = (left: number, right: number, change: number, word: number) => {
    const key = left * shift + right;
    counts.set(key, (counts.get(key) ?? 0) + change);
    if (change < 0) return;
    const where = places.get(key);
    if (where) where.add(word);
    else places.set(key, new Set([word]));
  };
  for (const [w, { ids, count: times }] of words.entries()) {
    for (let i = 1; i < ids.length; i++) count(ids[i - 1]!, ids[i]!, times, w);
  }
  const queue = new Queue();
  for (const [key, total] of counts) {
    queue.push({ left: Math.floor(key / shift), right: key % shift, count: total });
  }

  const merges: [string, string][] = [];
  while (pieces.length < size) {
    const best = queue.pop();
    if (best === undefined) break;
    const { left, right } = best;
    const key = left * shift + right;
    const now = counts.get(key)!;
    if (now !== best.count) {
      if (now > 0) queue.push({ left, right, count: now }); // it fell since it was put there
      continue;
    }
    if (now < minFrequency) break;
    const joined = pieces[left]! + pieces[right]!;
    let id = idOf.get(joined); // two merges may spell the same piece
    if (id === undefined) {
      id = pieces.length;
      pieces.push(joined);
      idOf.set(joined, id);
    }
    merges.push([pieces[left]!, pieces[right]!]);

    const grown = new Set<number>();
    for (const w of places.get(key)!) {
      const { ids, count: times } = words[w]!;
      for (let i = 0; i + 1 < ids.length; i++) {
        if (ids[i] !== left || ids[i + 1] !== right) continue;
        if (i > 0) {
          count(ids[i - 1]!, left, -times, w);
          count(ids[i - 1]!, id, times, w);
          grown.add(ids[i - 1]! * shift + id);
        }
        if (i + 2 < ids.length) {
          count(right, ids[i + 2]!, -times, w);
          count(id, ids[i + 2]!, times, w);
          grown.add(id * shift + ids[i + 2]!);
        }
        ids.splice(i, 2, id);
      }
    }
    counts.set(key, 0);
    places.delete(key);
    for (const pair of grown) {
      const total = counts.get(pair)!;
      if (total > 0) {
        queue.push({ left: Math.floor(pair / shift), right: pair % shift, count: total });
      }
    }
  }
  return merges;
}
