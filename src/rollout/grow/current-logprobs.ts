import { note } from "#platform/note";
import type { Policy } from "../../policy/policy.js";
import type { Environment } from "./environment.js";
import { liveChains } from "./live-chains.js";
import type { TreeRun } from "./tree-run.js";

/**
 * APPO: ln p of the initial rows' tokens under the policy of now, by place in the response. Undefined for
 * other rules, and where there is no such policy: entropy alone then ranks.
 */
export async function currentLogprobs(
  env: Environment,
  run: TreeRun,
): Promise<((trajectory: number) => Float32Array | undefined) | undefined> {
  const { config, sampling, policy } = env;
  if (config.expansion?.rule !== "appo") return undefined;
  const current = env.current ?? (config.compat.appoMismatch ? policy : undefined);
  if (!current) {
    sayEntropyAlone();
    return undefined;
  }
  const scores = readerOf(current);
  const rows = liveChains(run).map(({ nodes }) => ({
    prompt: run.prompt.tokens,
    tokens: Int32Array.from([...run.prefixTokens, ...nodes.flatMap(({ tokens }) => [...tokens])]),
  }));
  const temperature = sampling.temperature ?? 1;
  const found = await scores(rows, { temperature: temperature > 0 ? temperature : 1 });
  return (trajectory) => found[trajectory]?.logprobs;
}

/** How a policy reads rows again; throws where it cannot. */
export function readerOf(policy: Policy): NonNullable<Policy["logProbs"]> {
  if (!policy.logProbs) {
    throw new TypeError(
      `Cannot roll out: rule appo reads rows again under \`current\`, which must be able to say log-probabilities, got policy ${policy.name} that only writes`,
    );
  }
  return policy.logProbs.bind(policy);
}

let said = false;

/** Says once what a row's future was not asked for. */
function sayEntropyAlone(): void {
  if (said) return;
  said = true;
  note(
    "arpo-lab: rule appo without `current`: tokens are ranked by entropy alone, since no other policy says what their future is worth",
  );
}
