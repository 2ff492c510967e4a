import type { KernelParts } from "../kernel/thread-data.js";

/** What a page asks of its server's thread. */
export type ToServer =
  | { type: "start"; base: string; environment: Record<string, string> }
  | {
      type: "request";
      id: number;
      method: string;
      target: string;
      headers: Record<string, string>;
      body: Uint8Array<ArrayBuffer>;
    }
  | { type: "open"; socket: number; target: string; protocols: string[] }
  | { type: "data"; socket: number; data: string | Uint8Array<ArrayBuffer> }
  | { type: "close"; socket: number }
  | { type: "take-over" };

/** What it says. */
export type FromServer =
  | {
      type: "answer";
      id: number;
      status: number;
      headers: Record<string, string>;
      body: Uint8Array<ArrayBuffer>;
    }
  | { type: "opened"; socket: number; protocol: string }
  | { type: "data"; socket: number; data: string | Uint8Array }
  | { type: "closed"; socket: number; code: number; reason: string }
  /** A kernel that needs its threads and may start interpreters of Python; without parts it is gone. */
  | { type: "kernel"; kernel: number; parts?: KernelParts }
  /** Whether what is changed here stays; `newer`: lessons that changed since the reader changed them. */
  | { type: "state"; writes: boolean; keeps: boolean; newer: string[] };
