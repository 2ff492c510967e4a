import { type FileRecord, listOf } from "./fields.js";
import type { ImportedPart, TokenNumbers } from "./imported-row.js";

/** Numbers of a whole sequence, one for each of its tokens. */
type Streams = Partial<Record<"logprobs" | "entropies" | "advantages", TokenNumbers>>;

/** The spans behind the prompt: what is trained on, and what is not. */
export function maskedParts(
  tokens: readonly number[],
  mask: readonly boolean[],
  from: number,
  streams: Streams,
): ImportedPart[] {
  const parts: ImportedPart[] = [];
  for (let at = from; at < tokens.length;) {
    let to = at;
    while (to < tokens.length && mask[to] === mask[at]) to++;
    const cut = Object.entries(streams).map(([name, list]) => [name, list.slice(at, to)]);
    parts.push({
      by: mask[at] ? "model" : "tool",
      tokens: tokens.slice(at, to),
      ...(mask[at] ? (Object.fromEntries(cut) as Streams) : {}),
    });
    at = to;
  }
  return parts;
}

/** Which tokens are trained on, one entry for each. */
export function maskIn(record: FileRecord, length: number): boolean[] {
  const mask = listOf(record, "loss_mask").map(Boolean);
  if (mask.length === length) return mask;
  throw new RangeError(
    `loss_mask must have an entry for each of ${length} tokens, got ${mask.length}`,
  );
}
