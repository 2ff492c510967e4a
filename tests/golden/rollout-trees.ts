import type { Segment } from "../../src/policy/policy.js";
import { padTrajectories } from "../../src/rollout/tree/pad-trajectories.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { toolMetrics } from "../../src/rollout/tree/metrics.js";
import type { EntropyBaselines } from "../../src/rollout/branch/entropy-baselines.js";
import type { RolloutEvent, RolloutOptions } from "../../src/rollout/options.js";
import { CodePointTokenizer } from "../../src/rollout/testing/code-point-tokenizer.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import type { Tool } from "../../src/tools/tool.js";
import { scriptedSegment, type Script } from "./scripted.js";

type Answers = string | { error: string } | { attempts: string[] };

interface TreeInput {
  prompts: string[];
  config: Record<string, number | boolean>;
  vocab_size: number;
  eos_id: number;
  pad_id: number;
  tool_table: Record<string, Record<string, Answers>>;
  scripts: Script[][];
  draws: number[];
  meta?: { do_sample?: boolean; validate?: boolean };
  root_segments?: Script[];
  probe_scripts?: Script[][];
  max_model_len?: number;
}

/** A tool that answers from a golden-case file's table. */
function tableTool(tag: string, table: Record<string, Answers>): Tool {
  const calls = new Map<string, number>();
  return {
    name: tag,
    tag,
    description: "",
    execute: (input) => {
      const answer = Object.hasOwn(table, input) ? table[input]! : undefined;
      if (answer === undefined) return [...`res(${tag}:${input})`].slice(0, 40).join("");
      if (typeof answer === "string") return answer;
      if ("error" in answer) throw new Error(answer.error);
      const call = calls.get(input) ?? 0;
      calls.set(input, call + 1);
      return answer.attempts[call] ?? "";
    },
  };
}

/**
 * A policy that plays a file's scripts. The file numbers trajectories by creation; in lockstep a new
 * trajectory first generates in the round after its creation, in the order of creation, so the n-th session
 * trajectory to generate for the first time is trajectory n (after the roots and probes of pre-monitoring,
 * which a budget of one trajectory does without: there is nothing to decide).
 */
function scriptPlayer(input: TreeInput, monitored: boolean): ScriptedPolicy {
  const order = new Map<number, number>();
  const { eos_id, scripts } = input;
  const { root_segments: roots = [], probe_scripts: probes = [] } = monitored ? input : {};
  const scriptOf = (row: number): Script[] => {
    if (row < roots.length) return [roots[row]!];
    const probe = row - roots.length;
    if (probe < probes.length) return probes[probe]!;
    return scripts[probe - probes.length] ?? [];
  };
  const { vocab_size: vocabSize, eos_id: eosId, pad_id: padId } = input;
  return new ScriptedPolicy(
    ({ sequence: row, turn }): Segment => {
      if (!order.has(row)) order.set(row, order.size);
      const said = scriptOf(order.get(row)!)[turn] ?? {
        text: String.fromCodePoint(eos_id),
        finish: "stop",
        stop: null,
        logprobs: [[0]],
      };
      const segment = scriptedSegment(said.text, said.logprobs);
      if (said.finish === "stop") segment.finish = said.stop === null ? "end" : "stop";
      if (said.stop !== null) segment.stop = said.stop;
      return segment;
    },
    {
      tokenizer: new CodePointTokenizer({ vocabSize, eosId, padId }),
      contextLength: input.max_model_len ?? 1_000_000,
    },
  );
}

/** Runs one case in the reference's rounds and describes it as the files do. */
export async function runTrees(
  input: TreeInput,
  preset: "arpo" | "aepo",
  keepBaselines?: EntropyBaselines,
): Promise<Record<string, unknown>> {
  const { config, meta, draws, tool_table } = input;
  const validate = meta?.validate === true || meta?.do_sample === false;
  const n = config["n"] as number;
  const budget = validate ? 1 : n;
  const policy = scriptPlayer(input, budget > 1);
  let used = 0;
  const events: RolloutEvent[] = [];
  const options: RolloutOptions = {
    rule: rolloutPresets[preset].rule,
    n,
    initialRollouts: Math.min(n, (config["initial_rollouts"] as number | undefined) ?? n),
    beamSize: config["beam_size"] as number,
    branchProbability: config["branch_probability"] as number,
    entropyWeight: config["entropy_weight"] as number,
    responseLength: config["response_length"] as number,
    callLimit: config["call_limit"] as number,
    dynamicRollouts: Boolean(config["enable_dynamic_rollouts"]),
    mode: validate ? "validate" : "train",
    tools: new ToolSet(
      Object.entries(tool_table).map(([tag, table]) => tableTool(tag, table)),
      { retryCount: config["retry_count"] as number, failuresReadEmpty: true },
    ),
    scheduling: "lockstep",
    // The files' scripts are handed out in the order of the reference's calls.
    refillsAhead: false,
    compat: { searchPrompt: true, attendPadding: true, keepBaselines },
    draws: () => {
      const u = draws[used++];
      if (u === undefined) throw new Error("Cannot draw: the file lists no further draw");
      return u;
    },
    onEvent: (event) => events.push(event),
  };
  const trees = await rollout(
    policy,
    input.prompts.map((prompt) => ({ prompt })),
    options,
  );

  const born = events.filter((event) => event.type === "trajectory");
  const number = new Map(born.map(({ tree, trajectory }, i) => [`${tree}/${trajectory}`, i]));
  const rows = born.map(({ tree, trajectory, kind, round }, i) => {
    const { from } = trees[tree]!.trajectories[trajectory]!;
    const prefix = trees[tree]!.path(from).reduce((sum, node) => sum + node.tokens.length, 0);
    return { row: i, sample: tree, created_before_round: round, kind, prefix_len: prefix };
  });
  const calls: { rows: number[]; max_tokens: number; entropies: number[] }[] = [];
  for (const event of events) {
    if (event.type !== "segment") continue;
    const { tree, trajectory, round, maxTokens, entropy } = event;
    const call = (calls[round] ??= { rows: [], max_tokens: maxTokens, entropies: [] });
    call.rows.push(number.get(`${tree}/${trajectory}`)!);
    call.entropies.push(entropy);
  }
  const length = config["response_length"] as number;
  const outputs = trees.flatMap((tree) => {
    const { padId, eosIds, selected: trajectories } = tree;
    const batch = padTrajectories(trajectories, {
      padId,
      eosIds,
      responseLength: length,
      attendPadding: true,
    });
    return trajectories.map(({ tokens, written }, i) => {
      const all = batch.promptLength + length;
      const attention = batch.attention.subarray(i * all + batch.promptLength, (i + 1) * all);
      const mask = batch.lossMask.subarray(i * length, (i + 1) * length);
      const count = (bits: Uint8Array) => bits.reduce((sum, bit) => sum + bit, 0);
      return {
        sample: tree.index,
        response: policy.tokenizer.decode(tokens),
        result_mask: written.join(""),
        attention_len: count(attention),
        loss_mask_sum: count(mask),
        loss_mask: mask.subarray(0, tokens.length).join(""),
      };
    });
  });
  if (policy.openSequences > 0)
    throw new Error(`${policy.openSequences} session sequences were left open`);
  return {
    rows,
    generate_calls: calls,
    draws_used: used,
    outputs,
    metrics: toolMetrics(trees),
    initial_rollouts_list: trees.map((tree) => tree.monitor?.initialRollouts ?? budget),
  };
}
