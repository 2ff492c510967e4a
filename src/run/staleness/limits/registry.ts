import { Registry } from "../../../../common/options/registry.js";
import { areal } from "./areal.js";
import type { StalenessLimit } from "./definition.js";
import { primeRl } from "./prime-rl-async.js";
import { skyrl } from "./skyrl.js";
import { verlDrop, verlFullyAsync, verlOneStep, verlWait } from "./verl.js";

/** Every limit. A new one is a definition and its line here. */
export const stalenessLimits: Registry<StalenessLimit> = new Registry(
  "staleness limit",
  [areal, skyrl, primeRl, verlOneStep, verlFullyAsync, verlWait, verlDrop],
  ["older"],
);

/** What help says of the limits. */
export const limitWords = (): string =>
  stalenessLimits.all.map(({ name, words, bound }) => `${name} (${words}; ${bound})`).join(", ");
