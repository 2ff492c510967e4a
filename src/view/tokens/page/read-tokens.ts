import { integersOf, numbersOf } from "../../page/unpack.js";
import type { TokenPayload } from "../payload.js";
import type { TokenQuantity } from "../quantities.js";

/** What one update did to the tokens. */
export interface UnpackedPanel {
  name: string;
  /** Where each token's ratio stood, as a place in the payload's regions. */
  region: Uint16Array | Uint32Array;
  values: Map<TokenQuantity, Float32Array>;
  /** What a token says in it, where that is not what was written. */
  text?: (token: number) => string;
}

/** A token view as the page works with it. */
export interface PageTokens {
  payload: TokenPayload;
  panels: UnpackedPanel[];
  /** What a token says; its number where no tokenizer was there. */
  text: (token: number) => string;
}

/** Turns what was packed back into numbers. */
export function readTokens(payload: TokenPayload): PageTokens {
  const textOf = (packed: string) => {
    const tokens = integersOf(packed, payload.wide);
    return (token: number) => payload.vocabulary[tokens[token]!] ?? `#${String(tokens[token])} `;
  };
  return {
    payload,
    panels: payload.panels.map(({ name, quantities, region, tokens }) => ({
      name,
      ...(tokens !== undefined && { text: textOf(tokens) }),
      region: integersOf(region, false),
      values: new Map(
        Object.entries(quantities).map(([key, packed]) => [
          key as TokenQuantity,
          numbersOf(packed),
        ]),
      ),
    })),
    text: textOf(payload.tokens),
  };
}
