import { Registry } from "../../../common/options/registry.js";

/** An error of published code that a rule follows where `compat` asks for it: its switch, and what it changes. */
export interface Slip {
  readonly name: string;
  /**
   * `shifted`: tokens behind a tool's result are paired with what belongs to later ones. `asksSampler`: without a
   * policy of now, the one that samples is asked again. `misplaced`: the key for a wider first step is put where
   * nobody reads it.
   */
  readonly changes: "shifted" | "asksSampler" | "misplaced";
}

/** Those of the rules that are known. */
export const slips = new Registry<Slip>("switch of compat", [], ["changes"]);

/** What of them a tree was grown with. */
export const slipsIn = ({ compat }: { readonly compat: object }): ReadonlySet<Slip["changes"]> =>
  new Set(slips.all.filter(({ name }) => name in compat).map(({ changes }) => changes));
