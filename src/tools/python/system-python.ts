import { checkOptions, oneOf, type OptionRules } from "../../arguments/check-options.js";
import { toBase64 } from "#platform/bytes";
import { existsSync } from "#platform/files";
import { architecture, homedir, system } from "#platform/machine";
import { spawnSync } from "#platform/programs";
import { join } from "#platform/path";
import {
  bubblewrapArguments,
  bubblewrapTrouble,
  nobody,
  sandboxEnv,
  scratchBytes,
} from "./bubblewrap.js";
import { heldByProcess } from "./child-process.js";
import { harness } from "./harness.js";
import { pythonRules, withDefaults } from "./pyodide-python.js";
import { PythonPool, type PythonLimits } from "./python-pool.js";
import { isSandboxArch, seccompFilter, type SandboxArch } from "./seccomp-filter.js";
import { server } from "./server.js";

/** What stands around a CPython of the machine. */
const isolations = ["bubblewrap", "none"] as const;
export type Isolation = (typeof isolations)[number];

/** Which CPython, and behind which walls. */
export interface SystemPythonOptions extends PythonLimits {
  /** The interpreter: a path or a name on PATH. Default `python3`. */
  python?: string;
  /** Default: bubblewrap, or an error where it does not work. "none" has to be asked for. */
  isolation?: Isolation;
}

export const systemPythonRules: OptionRules<SystemPythonOptions> = {
  ...pythonRules,
  python: "path?",
  isolation: oneOf(isolations),
};

/** A pool, and what stands around its interpreters. */
export interface SystemPython {
  pool: PythonPool;
  version: string;
  isolation: Isolation;
  /** One line for people. */
  about: string;
}

/** Whether bubblewrap can wall a CPython in for this user on this machine. */
export const detectIsolation = (): Isolation =>
  sandboxUnavailableReason() === undefined ? "bubblewrap" : "none";

/** Why a CPython of this machine cannot be walled in, in one line; undefined where it can. */
export function sandboxUnavailableReason(): string | undefined {
  const trouble = wallTrouble();
  if (trouble !== undefined) return trouble;
  return spawnSync("python3", ["-c", ""]).status === 0 ? undefined : "no python3 on the PATH";
}

/** The same of the walls alone, whatever stands behind them. */
function wallTrouble(): string | undefined {
  if (system !== "linux") return `bubblewrap needs Linux, this is ${system}`;
  if (!isSandboxArch(architecture))
    return `system calls are known for x64 and arm64, this is ${architecture}`;
  return bubblewrapTrouble();
}

/** Where the interpreter's own files are, so that the sandbox can show them and nothing else. */
function inspect(python: string): { version: string; executable: string; folders: string[] } {
  const { status, stdout, error } = spawnSync(python, ["-I", "-c", describe], {
    encoding: "utf8",
    timeout: 20_000,
  });
  if (status !== 0) {
    throw new Error(
      `Cannot start Python: the interpreter must run, got ${error?.message ?? `status ${status}`} from ${python} (${orPyodide})`,
    );
  }
  const [version, executable, folders] = JSON.parse(stdout) as [string, string, string[]];
  // A path that leads through the user's own folder would show all of it.
  const home = `${homedir()}/`;
  const shown = folders.filter((folder) => existsSync(folder) && !home.startsWith(`${folder}/`));
  return { version, executable, folders: [...new Set(shown)] };
}

const describe = `
import json, sys, os
ends = "bin", "lib", "lib64", "pyvenv.cfg", "share/zoneinfo"
roots = sys.prefix, sys.base_prefix, sys.exec_prefix
own = [os.path.join(root, end) for root in roots for end in ends]
own += [os.path.dirname(sys.executable), os.path.dirname(os.path.realpath(sys.executable)), *sys.path]
print(json.dumps([sys.version.split()[0], sys.executable, [p for p in own if os.path.isabs(p)]]))`;

const orPyodide = "or use Pyodide, which needs neither: python: pyodide";

/**
 * A pool over a CPython of the machine (system, venv or conda): a warm fork server per interpreter,
 * inside bubblewrap. Where that does not work it is refused; `isolation: "none"` has to be asked for.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { systemPython } from "arpo-lab/tools";
 *
 * try {
 *   const { pool, isolation } = systemPython({ workers: 1 });
 *   assert.deepEqual([isolation, pool.size], ["bubblewrap", 0]);
 *   await pool.dispose();
 * } catch (error) {
 *   assert.match(String(error), /Cannot start Python/); // where there is no bubblewrap
 * }
 * ```
 */
export function systemPython(options: SystemPythonOptions = {}): SystemPython {
  checkOptions("start Python", options, systemPythonRules);
  const limits = withDefaults(options);
  const isolation = options.isolation ?? "bubblewrap";
  const trouble = isolation === "none" ? undefined : wallTrouble();
  if (trouble !== undefined) {
    throw new Error(
      `Cannot start Python: bubblewrap (0.7 or newer, and the name spaces it needs) must work here, got: ${trouble} (install it, ${orPyodide})`,
    );
  }
  const { version, executable, folders } = inspect(options.python ?? "python3");
  const walled = isolation === "bubblewrap";
  const filtered = system === "linux" && isSandboxArch(architecture);
  const start = (preload: string[]) => {
    const settings = {
      harness,
      preload,
      memoryBytes: limits.memoryMb * 2 ** 20,
      fileBytes: walled ? scratchBytes : 0,
      walled,
      nobody,
      filter: filtered ? toBase64(seccompFilter(architecture as SandboxArch)) : null,
    };
    const python = [executable, "-s", "-c", server, JSON.stringify(settings)];
    const [file, ...args] = walled ? ["bwrap", ...bubblewrapArguments(folders), ...python] : python;
    return heldByProcess({ file: file!, args, env: sandboxEnv });
  };
  const pool = new PythonPool({ light: start([]), heavy: start(["sympy"]) }, limits);
  return {
    pool,
    version,
    isolation,
    about: `Python ${version} at ${executable}, ${walls[isolation]}`,
  };
}

const walls: Record<Isolation, string> = {
  bubblewrap: "inside bubblewrap: own file system, no network, no other processes",
  none: "without isolation: resource limits and a filter of system calls only",
};

/** The interpreter of a conda environment, as the reference names it. */
export const condaPython = (condaPath: string, condaEnv: string) =>
  join(condaPath, "envs", condaEnv, "bin/python");
