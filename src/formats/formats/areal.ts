import { defined } from "../../../common/options/defined.js";
import { numberIn, oldestOf, textOf } from "../row/fields.js";
import { completionIn, type RolloutFormat } from "./format.js";

/** AReaL's `rollout.dump_to_file`: a JSONL file per task, in a folder of the newest weights that wrote it. */
export const areal: RolloutFormat = {
  name: "areal",
  title: "AReaL's dumped rollouts",
  fits: (record) => "head_version" in record && "tail_version" in record && "completion" in record,
  read: (record) => {
    const step = numberIn(record["tail_version"]);
    // AReaL counts the prompt in, whose version is -1: then only the newest is known.
    const version = oldestOf([record["head_version"]]) ?? oldestOf([step]);
    return {
      rows: [
        {
          ...{ prompt: textOf(record, "prompt"), group: String(record["task_id"]) },
          ...completionIn(record),
          ...defined({ step, score: numberIn(record["reward"]), version }),
        },
      ],
    };
  },
  says: {
    "tool results":
      "not marked: read off <result>, <tool_response>, <information> and <observation>",
    rewards: "reward",
    steps: "tail_version, the newest weights that wrote it",
  },
};
