/** Work that goes on: what it does, and how its page finds the kernel. */
export interface WorkStatus {
  line: string;
  /** How much is done, from 0 to 1, where that is known. */
  share?: number;
  /** A table of its parts as text, where it has such. */
  table?: string;
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
export interface StatusReply {
  line: string;
  share?: number;
  table?: string;
  stopping: boolean;
}
