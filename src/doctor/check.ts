/** How a finding is meant: fine, good to know, slow, likely to go wrong, or going to fail. */
export type Status = "ok" | "note" | "slow" | "warning" | "error";

/** One thing the doctor looked at. */
export interface Check {
  /** A name that does not change, for programs: `context-too-short`. */
  id: string;
  /** The part it belongs to: `tensors`, `Python`, `rewards`. */
  area: string;
  status: Status;
  /** What was found. */
  found: string;
  /** What helps. */
  fix?: string;
}
