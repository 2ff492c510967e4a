/** Agent programs as rollouts: what they ask a model is captured. Experimental: may change in any release. */

export {
  harnessRollout,
  type HarnessOptions,
  type HarnessRun,
  type RunReward,
} from "../../capture/harness-rollout.js";
export type { BranchPoint } from "../../capture/call-replay.js";
export { capture, CaptureServer, type CaptureOptions } from "../../capture/capture-server.js";
export { CaptureSession, type Captured, type SessionStart } from "../../capture/capture-session.js";
export type {
  CapturedCall,
  CapturedFunction,
  CaptureTask,
  LinkedCall,
  Rewrite,
} from "../../capture/captured-call.js";
