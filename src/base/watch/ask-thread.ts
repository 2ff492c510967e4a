// Asks a main thread that does not turn its event loop what it is doing: the inspector halts it where it
// is. In a user's code the process is ended; in ours (a long step of a large model) it continues.
import { writeSync } from "node:fs";
import { Session, type Debugger, type Runtime } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";
import { fileURLToPath } from "node:url";
import { endOf, Heartbeat, type WatchdogData } from "./heartbeat.js";

const data = workerData as WatchdogData;
/** Evaluates something in the main thread, which is halted. */
function evaluate(
  session: Session,
  callFrameId: string,
  expression: string,
): Promise<Runtime.RemoteObject> {
  return new Promise((resolve, reject) => {
    session.post(
      "Debugger.evaluateOnCallFrame",
      { callFrameId, expression, returnByValue: true, silent: true },
      (error, answer) => {
        if (error) reject(error);
        else resolve(answer.result);
      },
    );
  });
}

/** The innermost place that is in a file. */
function placeOf(frames: readonly Debugger.CallFrame[], urls: Map<string, string>): string {
  for (const { functionName, location, url } of frames) {
    const file = url || urls.get(location.scriptId) || "";
    if (!file.startsWith("file:")) continue;
    const name = functionName === "" ? "" : `${functionName} in `;
    return `${name}${fileURLToPath(file.split("?")[0]!)}:${location.lineNumber + 1}`;
  }
  return "";
}

/** Halts the main thread, and ends the process or lets the thread go on. */
function ask(): void {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  session.on("Debugger.paused", ({ params }) => {
    void judge(session, params.callFrames, urls);
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
}

async function judge(
  session: Session,
  frames: readonly Debugger.CallFrame[],
  urls: Map<string, string>,
): Promise<void> {
  const { callFrameId } = frames[0]!;
  const origin = 'globalThis[Symbol.for("arpo-lab.origin")]?.() ?? ""';
  const { value } = await evaluate(session, callFrameId, origin);
  const what = new Heartbeat(data.memory).inside || String(value);
  if (what === "") return session.disconnect();
  writeSync(2, `${endOf(data, what, placeOf(frames, urls))}\n`);
  // Without its error stream: Node would tell of the inspector that is still there.
  const end =
    'globalThis.process.getBuiltinModule("node:fs").closeSync(2), globalThis.process.reallyExit(1)';
  await evaluate(session, callFrameId, end);
}

parentPort!.on("message", ask);
parentPort!.postMessage("ready");
