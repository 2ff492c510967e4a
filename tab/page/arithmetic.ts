import { hasRelaxedSimd } from "../../src/tensor/engine/wasm-builds.js";

const kept = "arpo-lab relaxed";

/** Whether cells compute faster with other last bits: a reader's choice, where the browser can; kept for later visits. */
export const arithmetic = {
  possible: hasRelaxedSimd(),
  relaxed: hasRelaxedSimd() && localStorage.getItem(kept) !== null,
  choose: (relaxed: boolean): void =>
    relaxed ? localStorage.setItem(kept, "yes") : localStorage.removeItem(kept),
};
