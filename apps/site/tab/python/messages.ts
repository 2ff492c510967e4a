import type {
  ChildReady,
  ChildReply,
  ChildRequest,
} from "../../../../src/tools/python/protocol.js";
import type { FrameSettings } from "../../../../common/platform/node/modules.js";

/** What Pyodide is made of, fetched by the page: the frame can fetch nothing. */
export interface PythonAssets {
  /** The worker's script. */
  script: string;
  wasm: ArrayBuffer;
  library: ArrayBuffer;
  /** pyodide-lock.json. */
  lock: string;
}

/** What a kernel asks of the page, and the page of its frame. A worker's port comes with its start. */
export type Ask<Id> = { kind: "start"; id: Id; settings: FrameSettings } | { kind: "end"; id: Id };

/** What only the page says to its frame. */
export type ToFrame =
  | Ask<string>
  | { kind: "assets"; assets: PythonAssets }
  | { kind: "packages"; packages: ArrayBuffer };

/** The first message to a worker; its port is beside it. */
export interface WorkerStart {
  wasm: WebAssembly.Module;
  library: ArrayBuffer;
  lock: string;
  /** A zip that Python imports from. */
  packages?: ArrayBuffer;
  settings: FrameSettings;
}

/** Messages over a worker's port. */
export type ToWorker = ChildRequest;
export type FromWorker = ChildReady | ChildReply;
