import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import { numberIn, textOf, truthIn, withoutFields } from "../row/fields.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { splitOutput } from "../row/message-text.js";
import type { RolloutFormat } from "./format.js";

const known = ["input_prompt", "output_response", "score", "stop_reason"];
const ends: Readonly<Record<string, TrajectoryEnd>> = { stop: "answer", length: "length" };

/** A score per token is added up. */
function scoreOf(value: unknown): number | undefined {
  if (!Array.isArray(value)) return numberIn(value);
  return value.reduce<number>((sum, one) => sum + (numberIn(one) ?? 0), 0);
}

/** The right answer, where the environment's extras name one as its rewards do. */
function truthOf(extras: unknown): string | readonly string[] | undefined {
  if (!isRecord(extras)) return undefined;
  const spec = isRecord(extras["reward_spec"]) ? extras["reward_spec"] : extras["reward_model"];
  return isRecord(spec) ? truthIn(spec["ground_truth"]) : undefined;
}

/** SkyRL's `trainer.dump_eval_results`: a JSONL file per data source. */
export const skyrl: RolloutFormat = {
  name: "skyrl",
  title: "SkyRL's dumped_evals",
  fits: (record) => "input_prompt" in record && "output_response" in record,
  read: (record, { step }) => {
    const score = scoreOf(record["score"]);
    const end = ends[String(record["stop_reason"])];
    const groundTruth = truthOf(record["env_extras"]);
    const extra = withoutFields(record, known);
    return {
      rows: [
        {
          prompt: textOf(record, "input_prompt"),
          parts: splitOutput(textOf(record, "output_response")),
          ...defined({ step, score, end, groundTruth, extra }),
        },
      ],
    };
  },
  says: {
    "tool results":
      "not marked: read off <result>, <tool_response>, <information> and <observation>",
    rewards: "score; one per token is added up",
    "ground truth": "env_extras.reward_spec.ground_truth",
    steps: "the folder global_step_N",
    "how trajectories ended": "stop_reason",
  },
};
