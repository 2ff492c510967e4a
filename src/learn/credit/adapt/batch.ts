import type { Scored } from "../../../reward/scored.js";
import type { Rows } from "../../advantage/masked.js";
import { type CreditRow, creditRows } from "./rows.js";

/** Scored trajectories as credit rules read them. */
export interface CreditBatch {
  rows: readonly CreditRow[];
  rewards: Rows;
  /** Where the policy is trained. */
  mask: Rows;
  groups: readonly string[];
}

export function creditBatch(scored: Scored, rewards: Rows): CreditBatch {
  return {
    rows: creditRows(scored, rewards),
    rewards,
    mask: scored.rows.map(({ trajectory }) => trajectory.lossMask),
    groups: scored.rows.map(({ group }) => group),
  };
}
