import { measureRows } from "./model-trainee.js";
import type { Reference } from "./reference-policy.js";
import type { PassRow } from "./token-passes.js";
import type { RowMeasures } from "./trainee.js";
import type { UpdateSettings } from "./update-settings.js";

/** ln p and entropy of every response token under a frozen policy. */
export async function measureReference(
  reference: Reference,
  rows: readonly PassRow[],
  settings: UpdateSettings,
): Promise<RowMeasures> {
  if ("weights" in reference) return measureRows(reference, rows, settings);
  const said = await reference.logProbs(
    rows.map(({ trajectory: { prompt, tokens } }) => ({ prompt, tokens })),
    { temperature: settings.temperature },
  );
  return {
    logprobs: said.map(({ logprobs }) => logprobs),
    entropies: said.map(({ entropies }) => entropies),
  };
}
