import { isRecord } from "../../../common/options/is-record.js";
import { defined } from "../../../common/options/defined.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { idsOf, listOf, numberIn, numbersPerToken } from "../row/fields.js";
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
