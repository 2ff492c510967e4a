import { checkArguments } from "../../arguments/check-arguments.js";
import type { Model } from "../transformer/transformer.js";

/** Takes merged adapters out of the model's own weights again, which come back up to rounding. */
export function unmergeLora(model: Model): void {
  checkArguments("take adapters out", { model }, { model: "model" });
  model.mergeLora(false);
}
