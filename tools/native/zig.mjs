// A C++ compiler for every platform, from a registry: zig, as PyPI's wheel carries it. It is kept in the
// cache folder; `ZIG` names another one.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const version = "0.17.1";

const cache =
  process.env.ARPO_LAB_CACHE ??
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "arpo-lab");

/** Runs a command; throws with the end of what it said. */
function must(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status === 0) return;
  const said = error?.message ?? `${stdout}${stderr}`.trim().slice(-1000);
  throw new Error(`Cannot fetch zig: ${command} ${args.join(" ")} must succeed, got ${said}`);
}

/** Where zig is and what it brings (its libraries' licences); fetched the first time. */
export function findZig({ say = () => undefined } = {}) {
  if (process.env.ZIG) return process.env.ZIG;
  const folder = join(cache, `zig-${version}`);
  const zig = join(folder, "ziglang", process.platform === "win32" ? "zig.exe" : "zig");
  if (existsSync(zig)) return zig;
  say(`fetching zig ${version} from PyPI, which happens once …`);
  mkdirSync(cache, { recursive: true });
  const temporary = `${folder}-${process.pid}`;
  const python = process.platform === "win32" ? "python" : "python3";
  const quiet = ["-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
  try {
    must(python, ["-m", "pip", "install", ...quiet, "-t", temporary, `ziglang==${version}`]);
    if (!existsSync(folder)) renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return zig;
}
