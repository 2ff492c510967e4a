import { defined } from "../../common/options/defined.js";

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

type Finding = (id: string, found: string, fix?: string) => Check;

/** Makes the findings of one area: `warning("busy", "load 9", "wait")`. */
export function findings(area: string): Readonly<Record<Status, Finding>> {
  const of =
    (status: Status): Finding =>
    (id, found, fix) => ({ id, area, status, found, ...defined({ fix }) });
  return {
    ...{ ok: of("ok"), note: of("note"), slow: of("slow") },
    ...{ warning: of("warning"), error: of("error") },
  };
}
