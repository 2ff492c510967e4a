import { isRecord } from "../../../common/options/is-record.js";
import { defined } from "../../../common/options/defined.js";
import { chatOf, listOf, numberIn, numbersIn, truthIn } from "../row/fields.js";
import type { RolloutFormat } from "./format.js";

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
