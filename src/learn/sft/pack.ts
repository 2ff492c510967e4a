import type { Example } from "./encode.js";

/**
 * Joins examples into rows of at most `cutoff` tokens, longest first into the fullest row that still has
 * room. As in LLaMA-Factory's `packing`, an example can look back at those before it in its row; its
 * first token is not predicted from them.
 */
export function pack(examples: readonly Example[], cutoff: number): Example[] {
  const longest = [...examples].sort((a, b) => b.ids.length - a.ids.length);
  const rows: Example[] = [];
  for (const { ids, labels } of longest) {
    let best: Example | undefined;
    for (const row of rows) {
      const fits = row.ids.length + ids.length <= cutoff;
      if (fits && (!best || row.ids.length > best.ids.length)) best = row;
    }
    if (best) {
      best.ids.push(...ids);
      best.labels.push(-100, ...labels.slice(1));
    } else rows.push({ ids: [...ids], labels: [...labels] });
  }
  return rows;
}
