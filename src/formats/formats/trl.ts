import { defined } from "../../../common/options/defined.js";
import { numberIn, numbersIn, truthIn, withoutFields } from "../row/fields.js";
import type { FileRecord } from "../row/fields.js";
import { completionIn, promptIn, type RolloutFormat } from "./format.js";

const known = ["step", "prompt", "completion", "advantage", "image", "images"];

/** The table has a column per reward function, without weights, and others' numbers beside them. */
function scoreOf(
  record: FileRecord,
  numbers: Readonly<Record<string, number>>,
  chosen: readonly string[] | undefined,
): number | undefined {
  if (chosen) return chosen.reduce((sum, name) => sum + (numberIn(record[name]) ?? 0), 0);
  const own = numberIn(record["reward"]);
  if (own !== undefined) return own;
  const named = Object.keys(numbers).filter((name) => /reward|score/i.test(name));
  const columns = named.length > 0 ? named : Object.keys(numbers);
  if (columns.length === 0) return undefined;
  return columns.reduce((sum, name) => sum + numbers[name]!, 0);
}

/** TRL's `log_completions`: a parquet table per logging step. */
export const trl: RolloutFormat = {
  name: "trl",
  title: "TRL's completions tables",
  fits: (record) => "step" in record && "prompt" in record && "completion" in record,
  read: (record, { scoreColumns }) => {
    const columns = Object.keys(record).filter(
      (name) => !known.includes(name) && !name.startsWith("__index_level"),
    );
    const numbers = numbersIn(record, columns);
    const score = scoreOf(record, numbers, scoreColumns);
    const advantage = numberIn(record["advantage"]);
    const step = numberIn(record["step"]);
    const groundTruth = truthIn(record["answer"] ?? record["solution"] ?? record["ground_truth"]);
    const extra = withoutFields(record, [...known, ...Object.keys(numbers), "__index_level_0__"]);
    return {
      rows: [
        {
          prompt: promptIn(record),
          ...completionIn(record),
          ...defined({ step, score, advantage, groundTruth }),
          numbers,
          ...defined({ extra }),
        },
      ],
    };
  },
  says: {
    "tool results": "messages of other roles than the assistant's; in text read off its blocks",
    rewards: "the sum of the reward columns: the table has no weights",
    advantages: "advantage, one per trajectory",
    "ground truth": "answer, solution or ground_truth, where they were logged",
    steps: "step",
  },
};
