/** Agent programs as rollouts: what they ask a model is captured. Experimental: may change in any release. */

export { capture, CaptureServer, type CaptureOptions } from "../../capture/capture-server.js";
export { CaptureSession, type Captured, type SessionStart } from "../../capture/capture-session.js";
export type {
  CapturedCall,
  CapturedFunction,
  CaptureTask,
  LinkedCall,
  Rewrite,
} from "../../capture/captured-call.js";
