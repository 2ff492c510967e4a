import { isRecord } from "../../../common/options/is-record.js";
import { defined } from "../../../common/options/defined.js";
import { type FileRecord, listOf, numberIn, numbersIn } from "../row/fields.js";
import type { RolloutFormat } from "./format.js";

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
