import {
  either,
  fromTo,
  integer,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { RunFolder } from "../../run/folder/run-folder.js";

/** Under which policies a tree is drawn. */
export interface OverOptions {
  /**
   * A run: its folder, or the folder's path. The tree is scored under its checkpoints, and a slider draws it under
   * each. Default: none, the tree as it was sampled.
   */
  over: string | RunFolder;
  /** Checkpoints at most; of more the first, the last and those evenly between are taken (default 12). */
  checkpoints?: number;
  /** Bytes that all checkpoints' numbers may take before being packed; there are always two (default 2,000,000). */
  overBytes?: number;
}

const folder = {
  must: "a run folder",
  holds: (value: unknown) => isRecord(value) && typeof value["checkpoints"] === "function",
};

export const overRules: OptionRules<OverOptions> = {
  over: either("path", folder),
  checkpoints: integer(2, 64),
  overBytes: fromTo(0, Infinity),
};
