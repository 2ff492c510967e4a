import { joinBytes, utf8Text } from "#platform/bytes";
import { endGroup, spawn, system } from "#platform/process";
import type { ChildReady, ChildReply } from "./protocol.js";
import type { Hold } from "./python-child.js";

/** How a worker process is started. */
export interface ChildCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
}

/** An answer's line may have so many bytes: each stream of a call's output is cut far below that. */
const longestLine = 64 << 20;

/** A worker as a process, with messages as JSON lines over its standard streams. */
export const heldByProcess =
  (command: ChildCommand): Hold =>
  (heard, ended) => {
    const child = spawn(command.file, command.args, {
      env: command.env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: system !== "win32",
    });
    let errors = "";
    let buffered: Uint8Array[] = [];
    let length = 0;
    let isOurs = false;
    const end = (why: string, isStranger = false): void =>
      ended(`${why} ${errors.slice(-300)}`.trim(), isStranger);
    const kill = (): void => {
      isOurs = true;
      try {
        if (child.pid !== undefined && system !== "win32") endGroup(child.pid);
      } catch {
        // The group is gone already; the line below covers a process that never led one.
      }
      child.kill("SIGKILL");
    };
    child.unref();
    child.stdin.on("error", () => undefined); // Told by the exit, below.
    child.stderr.on("data", (data: Uint8Array) => {
      errors = (errors + utf8Text(data)).slice(-2000);
    });
    child.stdout.on("data", (data: Uint8Array) => {
      const at = data.indexOf(10);
      length += at < 0 ? data.length : at;
      if (length > longestLine) {
        buffered = [];
        ended(`it wrote a line of more than ${longestLine} bytes`);
        kill();
        return;
      }
      if (at < 0) {
        buffered.push(data);
        return;
      }
      const line = utf8Text(joinBytes([...buffered, data.subarray(0, at)]));
      buffered = at + 1 < data.length ? [data.subarray(at + 1)] : [];
      length = data.length - at - 1;
      let message: ChildReady | ChildReply;
      try {
        message = JSON.parse(line) as ChildReady | ChildReply;
      } catch {
        ended(`it wrote ${JSON.stringify(line.slice(0, 200))}`);
        kill();
        return;
      }
      heard(message);
    });
    child.once("error", (error) => end(error.message));
    child.once("close", (code, signal) =>
      end(signal ?? `status ${code}`, signal === "SIGKILL" && !isOurs),
    );
    return {
      get pid() {
        return child.pid;
      },
      send: (request) => void child.stdin.write(`${JSON.stringify(request)}\n`),
      hold: (busy) => {
        for (const stream of [child.stdout, child.stderr, child.stdin]) {
          const handle = stream as { ref?(): void; unref?(): void };
          if (busy) handle.ref?.();
          else handle.unref?.();
        }
        if (busy) child.ref();
        else child.unref();
      },
      kill,
    };
  };
