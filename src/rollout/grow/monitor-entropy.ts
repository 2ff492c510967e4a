import type { Segment, Sequence } from "../../policy/policy.js";
import { answerParts, callAll, classify, encodeResult, type Span } from "./calls.js";
import { dynamicBudget } from "../branch/dynamic-budget.js";
import type { RolloutState } from "./rollout-state.js";
import { segmentEntropy } from "../branch/segment-entropy.js";
import type { TreeRun } from "./tree-run.js";
import type { EntropyMonitor } from "../tree/tree-values.js";

interface Probe {
  run: TreeRun;
  handle: Sequence;
  calls: number;
  /** Tokens that it drew. */
  drawn: number;
  entropies: number[];
  /** Where results stand in its tokens. */
  results: Span[];
  /** Where it acts, as trajectories do. */
  trial: ReturnType<TreeRun["trialEpisode"]>;
}

/**
 * AEPO's entropy pre-monitoring: a short generation and one whole tool-using trajectory per prompt,
 * both thrown away, decide how many rollouts each prompt starts with.
 */
export async function monitorEntropy(
  shared: RolloutState,
  runs: readonly TreeRun[],
): Promise<EntropyMonitor[]> {
  const { config, session, policy, sampling, stops, signal } = shared;
  const dynamic = config.dynamicRollouts;
  if (!dynamic) throw new Error("Cannot monitor entropy: dynamicRollouts must be on, got false");
  const { beta, formula } = dynamic;
  const measure = (segment: Parameters<typeof segmentEntropy>[0]) =>
    segmentEntropy(segment, policy.tokenizer.vocabSize, config.entropy);

  const roots = await Promise.all(
    runs.map(async (run) => {
      const handle = run.openStart();
      const random = run.random.split("root");
      const { tokens: maxTokens } = dynamic;
      const options = { ...sampling, maxTokens, stop: stops, random, signal };
      const segment = await session.generate(handle, options);
      session.close(handle);
      return { entropy: measure(segment), drawn: segment.tokens.length };
    }),
  );

  const probes = runs.map((run) => ({
    run,
    handle: run.openStart(),
    calls: 0,
    drawn: 0,
    entropies: [],
    results: [],
    trial: run.trialEpisode(),
    random: run.random.split("probe"),
  }));
  let active: (Probe & { random: (typeof probes)[number]["random"] })[] = probes;
  const length = ({ run, handle }: Probe) => handle.tokens.length - run.prompt.tokens.length;
  while (active.length > 0) {
    const maxTokens = Math.max(1, ...active.map((p) => config.responseLength - length(p)));
    const going = await Promise.all(
      active.map(async (probe) => {
        const { handle, random } = probe;
        const options = { ...sampling, maxTokens, stop: stops, random, signal };
        const segment = await session.generate(handle, options);
        probe.drawn += segment.tokens.length;
        probe.entropies.push(measure(segment));
        return step(shared, probe, segment);
      }),
    );
    const before = active;
    // A tool's answer may take a probe past the response length: it then writes one segment more.
    active = before.filter((_, i) => going[i]);
    for (const probe of before) {
      if (active.includes(probe)) continue;
      session.close(probe.handle);
      await probe.trial?.episode.leave();
    }
  }

  return probes.map(({ run, entropies, calls, drawn }, i) => {
    const { entropy: rootEntropy, drawn: first } = roots[i]!;
    const stepEntropies = dynamic.excludeFirst ? entropies.slice(1) : entropies;
    const budget = dynamicBudget(config.n, rootEntropy, stepEntropies, { beta, formula });
    const spent = { tokens: first + drawn, calls };
    const monitor = { rootEntropy, stepEntropies, ...budget, spent };
    shared.emit({ type: "monitor", tree: run.index, monitor });
    return monitor;
  });
}

/** What a probe does after a segment: as a trajectory does, but calls count only when they have content. */
async function step(shared: RolloutState, probe: Probe, segment: Segment): Promise<boolean> {
  const { config, session, policy, tools, signal } = shared;
  const { handle, run } = probe;
  const outcome = classify({
    segment,
    tokens: handle.tokens,
    promptLength: run.prompt.tokens.length,
    calls: probe.calls,
    callLimit: config.callLimit,
    responseLength: config.responseLength,
    takesNothing: (tag) => run.takesNothing(tag),
    searchPrompt: config.compat.searchPrompt,
    tokenizer: policy.tokenizer,
    format: shared.calls,
    turn: segment.tokens.length,
    results: probe.results,
  });
  if (outcome.kind !== "call") return outcome.kind === "keep";
  probe.calls += outcome.all?.length ?? 1;
  const { trial } = probe;
  const acts = trial && { tags: trial.tags, call: trial.episode.call.bind(trial.episode) };
  const results = await callAll(outcome, tools, acts, signal);
  const answer = answerParts(shared.calls, results);
  if (trial?.episode.done) return false;
  const { resultBegin } = config.compat;
  const block = encodeResult(answer, policy.tokenizer, resultBegin, policy.contextLength);
  if (!block.whole) return false;
  const { tokens } = block;
  if (handle.tokens.length + tokens.length > policy.contextLength) {
    // The reference cuts the context back and continues; the probe's text is thrown away in any case.
    const capacity = policy.contextLength - tokens.length - 100;
    if (capacity < run.prompt.tokens.length) return false;
    session.truncate(handle, capacity);
    const kept = (at: number) => Math.min(at, capacity);
    probe.results = probe.results.map(([from, to]) => [kept(from), kept(to)]);
  }
  const at = handle.tokens.length;
  session.append(handle, tokens);
  probe.results.push([at, at + tokens.length]);
  return true;
}
