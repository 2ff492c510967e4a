import type { LiveMore } from "../../base/show/show-as.js";

/** Work that goes on: what it does, how much of it is done, and how its page finds the kernel. */
export interface WorkStatus extends LiveMore {
  line: string;
  /** What the Stop button ends it after. */
  after: string;
  key: string;
  target: string;
}

/** What the page of work that goes on says to the kernel: that it is there, or that the work is to stop. */
export interface StatusRequest {
  run: string;
  stop?: boolean;
}

/** What the kernel answers. */
export interface StatusReply extends LiveMore {
  line: string;
  stopping: boolean;
}
