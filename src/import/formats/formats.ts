import type { FileRecord } from "../row/fields.js";
import type { RolloutFormat } from "./format.js";
import { messageLogs } from "./message-logs.js";
import { ownTrees } from "./own-trees.js";
import { primeTokens } from "./prime-tokens.js";
import { skyrl } from "./skyrl.js";
import { tinkerSamples, tinkerSummaries, tinkerTrajectories } from "./tinker.js";
import { trl } from "./trl.js";
import { verifiersResults } from "./verifiers-results.js";
import { verifiersTraces } from "./verifiers-traces.js";
import { verl } from "./verl.js";

/** Every format, those with the most telling records first. */
export const formats: readonly RolloutFormat[] = [
  ...[ownTrees, verifiersTraces, primeTokens, tinkerSamples, tinkerTrajectories, tinkerSummaries],
  ...[skyrl, verl, trl, verifiersResults, messageLogs],
];

/** The format a record is of; undefined where none fits. */
export function formatOf(record: FileRecord): RolloutFormat | undefined {
  return formats.find(({ fits }) => fits(record));
}

/** A format by its name. */
export function formatNamed(name: string): RolloutFormat {
  const found = formats.find((format) => format.name === name);
  if (found) return found;
  throw new RangeError(
    `Cannot import rollouts: format must be one of ${formats.map((format) => format.name).join(", ")}, got ${JSON.stringify(name)}`,
  );
}
