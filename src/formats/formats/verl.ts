import { defined } from "../../../common/options/defined.js";
import { numberIn, numbersIn, textOf, truthIn, withoutFields } from "../row/fields.js";
import { splitOutput } from "../row/message-text.js";
import type { RolloutFormat } from "./format.js";

const known = ["input", "output", "score", "gts", "step", "uid"];

/** From 0.8 on a trajectory's uid is SAMPLE_ROLLOUT_OUTPUT; a batch may ask the same twice. */
function sampleOf(uid: unknown): string | undefined {
  if (typeof uid !== "string") return undefined;
  return /^(.+)_\d+_\d+$/.exec(uid)?.[1] ?? uid;
}

/** verl's `trainer.rollout_data_dir` and `validation_data_dir`; ours are the same. */
export const verl: RolloutFormat = {
  name: "verl",
  title: "verl's rollout_data_dir",
  fits: ({ input, output, input_prompt: other }) =>
    typeof input === "string" && typeof output === "string" && other === undefined,
  read: (record, { step: fileStep, scoreColumns }) => {
    const columns = Object.keys(record).filter((name) => !known.includes(name));
    const numbers = numbersIn(record, columns);
    const score = scoreColumns
      ? scoreColumns.reduce((sum, name) => sum + (numberIn(record[name]) ?? 0), 0)
      : numberIn(record["score"]);
    const step = numberIn(record["step"]) ?? fileStep;
    const group = sampleOf(record["uid"]);
    const groundTruth = truthIn(record["gts"]);
    const extra = withoutFields(record, [...known, ...Object.keys(numbers)]);
    return {
      rows: [
        {
          prompt: textOf(record, "input"),
          parts: splitOutput(textOf(record, "output")),
          ...defined({ group, step, score, groundTruth }),
          numbers,
          ...defined({ extra }),
        },
      ],
    };
  },
  says: {
    "tool results":
      "not marked: read off <result>, <tool_response>, <information> and <observation>",
    rewards: "score",
    "ground truth": "gts (0.6 on)",
    steps: "step",
  },
};
