import { integersOf, numbersOf } from "../../../page/unpack.js";
import type { ExplorerPayload } from "../../payload.js";

import { unpackPlans } from "./unpack-plans.js";

/** A tree as the page works with it. */
export interface PageTree extends Omit<
  ExplorerPayload,
  "tokens" | "entropies" | "surprises" | "advantages" | "top" | "expansions"
> {
  expansions: ReturnType<typeof unpackPlans>;
  /** Places of each row that a rule can choose among. */
  most: number;
  tokens: Uint16Array | Uint32Array;
  entropies: Float32Array;
  surprises: Float32Array;
  advantages?: Float32Array;
  top?: { width: number; ids: Uint16Array | Uint32Array; surprises: Float32Array };
}

/** Turns what was packed back into numbers. */
export function unpackTree(payload: ExplorerPayload): PageTree {
  const { advantages, top, wide } = payload;
  return {
    ...payload,
    expansions: unpackPlans(payload.expansions),
    most: payload.expansions.most,
    tokens: integersOf(payload.tokens, wide),
    entropies: numbersOf(payload.entropies),
    surprises: numbersOf(payload.surprises),
    advantages: advantages && numbersOf(advantages),
    top: top && {
      width: top.width,
      ids: integersOf(top.ids, wide),
      surprises: numbersOf(top.surprises),
    },
  };
}
