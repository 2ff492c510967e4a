import { treesFromJsonl } from "../../rollout/files/tree-jsonl.js";
import { treesFromParquet } from "../../rollout/files/tree-parquet.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { RolloutFormat } from "./format.js";

/** Trees as `saveTrees` writes them, in run folders too. */
export const ownTrees: RolloutFormat = {
  name: "arpo-lab",
  title: "arpo-lab's trees",
  fits: ({ nodes, trajectories, rows, config, prompt }) =>
    Array.isArray(nodes) &&
    Array.isArray(trajectories ?? rows) &&
    isRecord(config) &&
    isRecord(prompt),
  read: (record, { text }) => ({ trees: treesFromJsonl(text ?? JSON.stringify(record)) }),
  table: { columns: ["tree", "node", "header"], read: treesFromParquet },
  says: {
    tokens: "ids",
    parents: "every trajectory's",
    "tool results": "every call with its answer",
    "log-probs": "of every sampled token",
    entropies: "of every sampled token",
    "how trajectories ended": "every trajectory's end",
    "ground truth": "the task's",
    steps: "the file's name",
  },
};
