import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ChildCommand } from "./child-process.js";
import { harness } from "./harness.js";
import { withDefaults } from "./pyodide-python.js";
import { PythonPool, type PythonLimits } from "./python-pool.js";
import { server } from "./server.js";

/** How strongly a CPython of the machine is walled in. */
export type Isolation = "bubblewrap" | "unshare" | "none";

/** Which CPython, and behind which walls. */
export interface SystemPythonOptions extends PythonLimits {
  /** The interpreter: a path or a name on PATH. Default `python3`. */
  python?: string;
  /** Default: the strongest that works here. "none" has to be asked for. */
  isolation?: Isolation;
}

/** A pool, and what stands around its interpreters. */
export interface SystemPython {
  pool: PythonPool;
  version: string;
  isolation: Isolation;
  /** One line for people. */
  about: string;
}

const works = (file: string, args: string[]) =>
  spawnSync(file, args, { stdio: "ignore", timeout: 5000 }).status === 0;

/** The strongest wall that works for this user on this machine. */
export function detectIsolation(): Isolation {
  const probe = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"];
  if (works("bwrap", probe)) return "bubblewrap";
  if (works("unshare", [...unshareFlags, "true"])) return "unshare";
  return "none";
}

const unshareFlags = [
  "--user",
  "--map-root-user",
  "--net",
  "--ipc",
  "--uts",
  "--pid",
  "--fork",
  "--mount-proc",
  "--kill-child",
];

/** Where the interpreter's own files are, so that the sandbox can show them and nothing else. */
function inspect(python: string): { version: string; executable: string; folders: string[] } {
  const code =
    "import json,sys,os;print(json.dumps([sys.version.split()[0],sys.executable,[sys.prefix,sys.base_prefix,os.path.dirname(os.path.realpath(sys.executable))]+sys.path]))";
  const { status, stdout, error } = spawnSync(python, ["-I", "-c", code], {
    encoding: "utf8",
    timeout: 20_000,
  });
  if (status !== 0) {
    throw new Error(
      `Cannot start Python: the interpreter must run, got ${error?.message ?? `status ${status}`} from ${python}`,
    );
  }
  const [version, executable, folders] = JSON.parse(stdout) as [string, string, string[]];
  return { version, executable, folders: [...new Set(folders.filter((f) => f && existsSync(f)))] };
}

function bubblewrap(folders: string[]): string[] {
  const system = [
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
  ];
  const hidden = folders.filter((folder) => !system.some((s) => `${folder}/`.startsWith(`${s}/`)));
  return [
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--hostname",
    "sandbox",
    ...system.flatMap((path) => ["--ro-bind-try", path, path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    ...hidden.flatMap((path) => ["--ro-bind", path, path]),
    "--chdir",
    "/tmp",
  ];
}

/**
 * A pool over a CPython of the machine (system, venv or conda): a warm fork server per interpreter,
 * inside bubblewrap, or inside `unshare` namespaces where that is missing.
 *
 * With `unshare` there is no network and no other process, but files that this user may read stay
 * readable. Without either, `isolation: "none"` has to be asked for.
 */
export function systemPython(options: SystemPythonOptions = {}): SystemPython {
  const limits = withDefaults(options);
  const isolation = options.isolation ?? detectIsolation();
  if (isolation === "none" && options.isolation !== "none") {
    throw new Error(
      'Cannot start Python: bubblewrap or unshare must work here, got neither (use Pyodide, or ask for isolation "none")',
    );
  }
  const { version, executable, folders } = inspect(options.python ?? "python3");
  const command = (preload: string[]): ChildCommand => {
    const settings = {
      harness,
      preload,
      memoryBytes: limits.memoryMb * 2 ** 20,
      fileBytes: isolation === "bubblewrap" ? 64 * 2 ** 20 : 0,
      ownProcesses: isolation !== "none",
      ownTmp: isolation === "bubblewrap",
      filter: process.platform === "linux",
    };
    const python = [executable, "-s", "-c", server, JSON.stringify(settings)];
    const around =
      isolation === "bubblewrap"
        ? ["bwrap", ...bubblewrap(folders)]
        : isolation === "unshare"
          ? ["unshare", ...unshareFlags]
          : [];
    const [file, ...args] = [...around, ...python];
    return {
      file: file!,
      args,
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: "/tmp",
        TZ: "UTC",
        LANG: "C.UTF-8",
        PYTHONHASHSEED: "0",
      },
    };
  };
  const pool = new PythonPool({ light: command([]), heavy: command(["sympy"]) }, limits);
  return {
    pool,
    version,
    isolation,
    about: `Python ${version} at ${executable}, ${walls[isolation]}`,
  };
}

const walls: Record<Isolation, string> = {
  bubblewrap: "inside bubblewrap: own file system, no network, no other processes",
  unshare: "inside unshare: no network, no other processes, files readable",
  none: "without isolation: resource limits only",
};

/** The interpreter of a conda environment, as the reference names it. */
export const condaPython = (condaPath: string, condaEnv: string) =>
  join(condaPath, "envs", condaEnv, "bin/python");
