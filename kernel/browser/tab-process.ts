import { environment } from "#platform/environment";
import { currentFolder } from "#platform/machine";

/**
 * What cells find as `process`: what a notebook uses of Node's. It names no versions: libraries take those
 * for a sign that Node is there.
 */
export function tabProcess(
  print: (name: "stdout" | "stderr", text: string) => void,
  exit: (code: number | string) => never,
): object {
  const stream = (name: "stdout" | "stderr") => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      print(name, typeof text === "string" ? text : new TextDecoder().decode(text));
      return true;
    },
  });
  return {
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: environment,
    argv: [],
    platform: "tab",
    arch: "wasm32",
    cwd: currentFolder,
    exit: (code = 0) => exit(code as number),
    nextTick: (call: (...args: unknown[]) => void, ...args: unknown[]) =>
      queueMicrotask(() => call(...args)),
    uptime: () => performance.now() / 1000,
    hrtime: { bigint: () => BigInt(Math.round(performance.now() * 1e6)) },
  };
}
