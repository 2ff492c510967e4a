import type { ReplayChanges } from "../../../rollout/replay/follow-plan.js";
import type { Quantity } from "./colouring.js";

/** What the reader has chosen. */
export interface Choices {
  quantity: Quantity;
  along: "tokens" | "time";
  changes: ReplayChanges;
  /** Rows whose paths are shown; -1 for none. */
  follow: number;
  compare: number;
}
