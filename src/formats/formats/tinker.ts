import { defined } from "../../../common/options/defined.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { isRecord } from "../../../common/options/is-record.js";
import {
  chatOf,
  type FileRecord,
  idsOf,
  listOf,
  numberIn,
  numbersIn,
  numbersPerToken,
  truthIn,
} from "../row/fields.js";
import type { ImportedRow } from "../row/imported-row.js";
import type { RolloutFormat } from "./format.js";

const ends: Readonly<Record<string, TrajectoryEnd>> = { stop: "answer", length: "length" };

/** What tinker-cookbook's capture writes of every request for samples. */
export const tinkerSamples: RolloutFormat = {
  name: "tinker-samples",
  title: "tinker-cookbook's capture/sample.jsonl",
  fits: ({ kind, samples, num_samples: count }) =>
    kind === "sample" && (Array.isArray(samples) || count !== undefined),
  read: (record) => {
    // A request that failed, or whose answer was not waited for, has no samples.
    if (!Array.isArray(record["samples"])) return undefined;
    const promptTokens = idsOf(record, "prompt_tokens");
    const model = record["model_path"] ?? record["base_model"];
    const scope = isRecord(record["scope"]) ? record["scope"] : {};
    const step = numberIn(scope["step"] ?? scope["iteration"]);
    const rows = listOf(record, "samples").flatMap((sample): ImportedRow[] => {
      if (!isRecord(sample) || !Array.isArray(sample["tokens"])) return [];
      const tokens = idsOf(sample, "tokens");
      const logprobs = numbersPerToken(sample, "logprobs", tokens.length);
      const end = ends[String(sample["stop_reason"]).toLowerCase().replace(/^.*\./, "")];
      return [
        {
          prompt: "",
          promptTokens,
          parts: [{ by: "model", tokens, ...defined({ logprobs }) }],
          ...defined({ step, end }),
          ...(typeof model === "string" ? { model } : {}),
        },
      ];
    });
    return { rows };
  },
  says: {
    tokens: "ids, no text: a tokenizer makes it readable",
    "tool results": "not in the file: each request is a trajectory of its own",
    "log-probs": "logprobs",
    "how trajectories ended": "stop_reason",
    steps: "scope.step or scope.iteration",
  },
};

/** The turns of an evaluation: what others than the model say after it answers it. */
const roleOf = (role: unknown) => (role === "environment" || role === "grader" ? "tool" : role);

/** `trajectories.jsonl` of tinker-cookbook's evaluations. */
export const tinkerTrajectories: RolloutFormat = {
  name: "tinker-trajectories",
  title: "tinker-cookbook's trajectories.jsonl",
  fits: ({ turns, benchmark }) => Array.isArray(turns) && typeof benchmark === "string",
  read: (record, { step }) => {
    const turns = chatOf(
      listOf(record, "turns").map((turn) =>
        isRecord(turn) ? { role: roleOf(turn["role"]), content: turn["content"] } : turn,
      ),
      "turns",
    );
    const first = turns.findIndex(({ role }) => role === "assistant");
    if (first < 0) return undefined;
    const logs = isRecord(record["logs"]) ? record["logs"] : {};
    const groundTruth = truthIn(logs["expected"]);
    const score = numberIn(record["reward"]);
    return {
      rows: [
        {
          prompt: first === 0 ? "" : turns.slice(0, first),
          parts: [],
          messages: turns.slice(first),
          group: JSON.stringify([record["benchmark"], record["example_id"]]),
          ...defined({ step, score, groundTruth }),
          numbers: isRecord(record["metrics"]) ? numbersIn(record["metrics"]) : {},
          extra: { ...logs, ...(record["error"] ? { error: record["error"] } : {}) },
        },
      ],
    };
  },
  says: {
    "tool results": "turns of the environment and of the grader",
    rewards: "reward",
    "ground truth": "logs.expected",
  },
};

const statistics = (record: FileRecord): Record<string, number> => ({
  ...(isRecord(record["trajectory_metrics"]) ? numbersIn(record["trajectory_metrics"]) : {}),
  turns: listOf(record, "steps").length,
  tokens: listOf(record, "steps").reduce<number>(
    (sum, step) => sum + (isRecord(step) ? (numberIn(step["ac_len"]) ?? 0) : 0),
    0,
  ),
});

/** `*_rollout_summaries.jsonl` of tinker-cookbook: rewards and lengths, without the texts. */
export const tinkerSummaries: RolloutFormat = {
  name: "tinker-summaries",
  title: "tinker-cookbook's rollout_summaries.jsonl",
  fits: ({ traj_idx: trajectory, steps }) => trajectory !== undefined && Array.isArray(steps),
  read: (record) => {
    const step = numberIn(record["iteration"]);
    const score = numberIn(record["total_reward"]);
    return {
      counted: [
        {
          ...defined({ step, score }),
          numbers: statistics(record),
        },
      ],
    };
  },
  says: {
    tokens: "not in the file: only how many there were",
    rewards: "total_reward",
    steps: "iteration",
  },
};
