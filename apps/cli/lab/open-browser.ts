import { spawn } from "node:child_process";

/** Opens an address where there is a screen; where there is none, nothing happens. */
export function openBrowser(url: string): void {
  const { env, platform } = process;
  if (env["CI"] !== undefined) return;
  const screen = env["DISPLAY"] ?? env["WAYLAND_DISPLAY"];
  if (platform === "linux" && screen === undefined && env["WSL_DISTRO_NAME"] === undefined) return;
  const [command, ...args] =
    platform === "darwin"
      ? ["open", url]
      : platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", url]
        : ["xdg-open", url];
  const child = spawn(command!, args, { stdio: "ignore", detached: true });
  child.once("error", () => undefined); // the address stands in the terminal
  child.unref();
}
