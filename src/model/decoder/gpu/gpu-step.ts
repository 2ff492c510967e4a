import type { StepSampling } from "../decoder.js";
import type { Extension } from "../pages.js";
import { SETTINGS } from "../../../tensor/gpu/wgsl/sample.js";

/** What one step takes to the card, in one write; places are in bytes. */
export interface PackedStep {
  bytes: ArrayBuffer;
  at: Record<
    "tokens" | "fed" | "pages" | "copies" | "lasts" | "settings" | "allowed" | "seen",
    Place
  >;
  copies: number;
}
interface Place {
  offset: number;
  size: number;
}

/** Where parts of a buffer may begin. */
const ALIGNMENT = 256;

/** Lays out everything a step needs, one part behind the other. */
export function packStep(
  extensions: readonly Extension[],
  tokens: Int32Array,
  offsets: Int32Array,
  sampling: StepSampling,
  pageSize: number,
  seen: readonly (Uint32Array | undefined)[],
): PackedStep {
  const rows = extensions.length;
  const fed = new Int32Array(2 * tokens.length);
  const pages: number[] = [];
  const copies: number[] = [];
  const lasts = new Int32Array(rows);
  const settings = new Float32Array(rows * SETTINGS);
  const masks: Uint32Array[] = [];
  for (const [i, { pages: own, from, copy }] of extensions.entries()) {
    for (let t = offsets[i]!; t < offsets[i + 1]!; t++) {
      fed[2 * t] = pages.length;
      fed[2 * t + 1] = from + t - offsets[i]!;
    }
    for (const page of own) pages.push(page);
    if (copy) copies.push(copy[0], copy[1], from % pageSize);
    lasts[i] = offsets[i + 1]! - 1;
    const mask = seen[i];
    settings.set(
      [
        ...[sampling.temperature[i]!, sampling.topP[i]!, sampling.minP[i]!],
        ...[sampling.repetitionPenalty[i]!, sampling.uniform[i]!, sampling.topK[i]!],
        mask ? masks.length : -1,
        sampling.allowed ? (sampling.allowedAt?.[i] ?? 0) : -1,
        sampling.constrained?.[i] ?? 0,
      ],
      i * SETTINGS,
    );
    if (mask) masks.push(mask);
  }
  const words = masks[0]?.length ?? 1;
  const allSeen = new Uint32Array(Math.max(1, masks.length) * words);
  for (const [i, mask] of masks.entries()) allSeen.set(mask, i * words);
  const parts = {
    tokens,
    fed,
    pages: Int32Array.from(pages),
    copies: copies.length > 0 ? Int32Array.from(copies) : new Int32Array(1),
    lasts,
    settings,
    allowed: sampling.allowed ?? new Uint32Array(1),
    seen: allSeen,
  };
  let end = 0;
  const places = Object.entries(parts).map(([name, { byteLength }]) => {
    const place = { offset: end, size: byteLength };
    end += Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
    return [name, place] as const;
  });
  const bytes = new ArrayBuffer(end);
  for (const [i, part] of Object.values(parts).entries()) {
    const view = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    new Uint8Array(bytes).set(view, places[i]![1].offset);
  }
  return { bytes, at: Object.fromEntries(places) as PackedStep["at"], copies: copies.length / 3 };
}
