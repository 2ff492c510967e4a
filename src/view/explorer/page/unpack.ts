import type { ExplorerPayload, PackedNumbers } from "../payload.js";
import { unpackNumbers } from "./unpack-numbers.js";

/** A tree as the page works with it. */
export interface PageTree extends Omit<
  ExplorerPayload,
  "tokens" | "entropies" | "surprises" | "advantages" | "top"
> {
  tokens: Uint16Array | Uint32Array;
  entropies: Float32Array;
  surprises: Float32Array;
  advantages?: Float32Array;
  top?: { width: number; ids: Uint16Array | Uint32Array; surprises: Float32Array };
}

/** Turns what was packed back into numbers. */
export function unpackTree(payload: ExplorerPayload): PageTree {
  const bytes = (data: string) => {
    const text = atob(data);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
    return out.buffer;
  };
  const whole = (data: string) =>
    payload.wide ? new Uint32Array(bytes(data)) : new Uint16Array(bytes(data));
  const numbers = ({ low, high, data }: PackedNumbers) =>
    unpackNumbers(new Uint16Array(bytes(data)), low, high);
  const { advantages, top } = payload;
  return {
    ...payload,
    tokens: whole(payload.tokens),
    entropies: numbers(payload.entropies),
    surprises: numbers(payload.surprises),
    advantages: advantages && numbers(advantages),
    top: top && { width: top.width, ids: whole(top.ids), surprises: numbers(top.surprises) },
  };
}
