import type { Job } from "./job.js";
import type { Line } from "./line.js";
import type { Row } from "./policy.js";

/** A row of a local session. */
export class LocalRow implements Row {
  readonly id: number;
  readonly tokens: number[];
  line: Line;
  /** The generate call that is running on it. */
  job: Job | undefined;

  constructor(id: number, tokens: number[], line: Line) {
    this.id = id;
    this.tokens = tokens;
    this.line = line;
  }
}
