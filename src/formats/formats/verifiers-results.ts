import { defined } from "../../../common/options/defined.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import { isRecord } from "../../../common/options/is-record.js";
import { numberIn, numbersIn, truthIn, withoutFields } from "../row/fields.js";
import type { FileRecord } from "../row/fields.js";
import { completionIn, promptIn, type RolloutFormat } from "./format.js";

const known = ["prompt", "completion", "reward", "answer", "example_id", "task", "metrics"];
const clocks = ["generation_ms", "scoring_ms", "total_ms", "id"];

function endOf(record: FileRecord): TrajectoryEnd | undefined {
  if (record["is_truncated"] === true) return "length";
  const { stop_condition: stop } = record;
  if (typeof stop !== "string") return undefined;
  if (stop.startsWith("max_turns")) return "call-limit";
  return stop.includes("too_long") ? "context" : "answer";
}

/** `results.jsonl` of verifiers 0.1, and the datasets it saves or pushes. */
export const verifiersResults: RolloutFormat = {
  name: "verifiers-results",
  title: "verifiers' results.jsonl",
  fits: (record) => "prompt" in record && "completion" in record && "reward" in record,
  read: (record, { step, scoreColumns }) => {
    const others = Object.keys(record).filter((name) => ![...known, ...clocks].includes(name));
    const numbers = {
      ...(isRecord(record["metrics"]) ? numbersIn(record["metrics"]) : {}),
      ...numbersIn(record, others),
    };
    const score = scoreColumns
      ? scoreColumns.reduce((sum, name) => sum + (numbers[name] ?? 0), 0)
      : numberIn(record["reward"]);
    const { example_id: example, task } = record;
    const end = endOf(record);
    const groundTruth = truthIn(record["answer"]);
    const extra = withoutFields(record, [...known, ...Object.keys(numbers)]);
    const group = [example, task].filter((part) => part !== undefined && part !== null);
    return {
      rows: [
        {
          prompt: promptIn(record),
          ...completionIn(record),
          ...(group.length === 0 ? {} : { group: JSON.stringify(group) }),
          ...defined({ step, score, end, groundTruth }),
          numbers,
          ...defined({ extra }),
        },
      ],
    };
  },
  says: {
    "tool results": "messages of other roles than the assistant's",
    rewards: "reward",
    "ground truth": "answer",
    steps: "the folder step_N",
    "how trajectories ended": "is_truncated and stop_condition",
  },
};
