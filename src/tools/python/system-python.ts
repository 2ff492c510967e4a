import { toBase64 } from "#platform/bytes";
import { existsSync, realpathSync } from "#platform/files";
import { architecture, homedir, isRoot, spawnSync, system } from "#platform/process";
import { dirname, join } from "#platform/path";
import { checkOptions, oneOf, type OptionRules } from "../../../common/options/check-options.js";
import { heldByProcess } from "./child-process.js";
import { harness } from "./harness.js";
import { pythonRules, withDefaults } from "./pyodide-python.js";
import { type PythonLimits, PythonPool } from "./python-pool.js";
import { server } from "./server.js";
import { allowedCalls, firstUnknown, ruledCalls } from "./system-calls.js";

/** What the sandbox's own programs are started with, and all of it that code there can see. */
const sandboxEnv = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  TZ: "UTC",
  LANG: "C.UTF-8",
  PYTHONHASHSEED: "0",
};

/** Whom code runs as: nobody, whoever started it. */
export const nobody = 65534;

/** Bytes that files in the sandbox's `/tmp` may take together. */
const scratchBytes = 64 * 2 ** 20;

const libraries = [
  "/lib",
  "/lib64",
  "/usr/lib",
  "/usr/lib64",
  "/usr/share/zoneinfo",
  "/etc/alternatives",
  "/etc/ld.so.cache",
];
const devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/** A bind with the folders above it, which bubblewrap would make for their owner alone. */
function show(bind: string, path: string): string[] {
  const above: string[] = [];
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) above.unshift(folder);
  return [...above.flatMap((folder) => ["--dir", folder]), bind, path, path];
}

/**
 * bubblewrap's arguments: every name space its own; no network, no /proc, no terminal; a root that
 * holds the shared libraries and `folders`, read-only; and a `/tmp` of limited size.
 *
 * A user becomes nobody by a user name space. Root needs none for the mounts, and none would help: its
 * own files would stay its own. It keeps the right to become nobody, which the server does first.
 */
function bubblewrapArguments(folders: readonly string[]): string[] {
  const root = isRoot();
  const id = String(nobody);
  return [
    ...(root ? [] : ["--unshare-user", "--uid", id, "--gid", id]),
    ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--hostname", "sandbox"],
    ...["--cap-drop", "ALL"],
    ...(root ? ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] : []),
    ...libraries.flatMap((path) => show("--ro-bind-try", path)),
    ...devices.flatMap((path) => show("--dev-bind", path)),
    ...["--perms", "1777", "--size", String(scratchBytes), "--tmpfs", "/tmp"],
    ...folders.flatMap((path) => show("--ro-bind", path)),
    ...["--remount-ro", "/", "--chdir", "/tmp"],
  ];
}

/** Why bubblewrap cannot be used on this machine; undefined where it can. */
function bubblewrapTrouble(): string | undefined {
  const programs = ["/usr/bin", "/bin"].filter((folder) => existsSync(folder));
  const { status, stderr, error } = spawnSync("bwrap", [...bubblewrapArguments(programs), "true"], {
    encoding: "utf8",
    timeout: 5000,
    env: sandboxEnv,
  });
  if (status === 0) return undefined;
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return "no bwrap";
  return error?.message ?? (stderr.trim().split("\n")[0] || `status ${status}`);
}

/** An architecture whose numbers are known. */
export type SandboxArch = "x64" | "arm64";

/** Whether system calls can be filtered on an architecture, as Node names it. */
const isSandboxArch = (arch: string): arch is SandboxArch => arch === "x64" || arch === "arm64";

const auditArch = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** What a filter answers. */
export const verdicts = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  notPermitted: 0x00050001,
  notImplemented: 0x00050026,
};

/** Calls from here on are x32's, which reach the same kernel under other numbers. */
const x32 = 0x40000000;

type Instruction = readonly [code: number, yes: number, no: number, value: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const ifEqual = (value: number, yes: number, no: number): Instruction => [0x15, yes, no, value];
const ifAtLeast = (value: number, yes: number, no: number): Instruction => [0x35, yes, no, value];
const and = (bits: number): Instruction => [0x54, 0, 0, bits];
const answer = (verdict: number): Instruction => [0x06, 0, 0, verdict];

/** Where `struct seccomp_data` keeps things; both architectures put the lower half first. */
const at = { number: 0, arch: 4, argument: (i: number) => 16 + 8 * i, upper: 4 };

/** `name=x64/arm64` into the number on one of them, if it has one. */
function numberOf(call: string, arch: SandboxArch): number | undefined {
  const number = call.split("=")[1]!.split("/")[arch === "x64" ? 0 : 1]!;
  return number === "-" ? undefined : Number(number);
}

/**
 * The classic BPF program that lets `allowedCalls` and `ruledCalls` through and nothing else, as the
 * bytes of an array of `struct sock_filter`.
 *
 * Calls by another architecture's door (32-bit code by `int 0x80`, x32) end the process.
 */
export function seccompFilter(arch: SandboxArch): Uint8Array {
  const { allow, killProcess, notPermitted, notImplemented } = verdicts;
  const program: Instruction[] = [
    load(at.arch),
    ifEqual(auditArch[arch], 1, 0),
    answer(killProcess),
    load(at.number),
  ];
  if (arch === "x64") program.push(ifAtLeast(x32, 0, 1), answer(killProcess));
  for (const call of allowedCalls.flatMap((group) => group.trim().split(/\s+/))) {
    const number = numberOf(call, arch);
    if (number !== undefined) program.push(ifEqual(number, 0, 1), answer(allow));
  }
  for (const { call, argument, values = [0], pointer, without } of ruledCalls) {
    const number = numberOf(call, arch);
    if (number === undefined) continue;
    const rule: Instruction[] = [
      ...(pointer
        ? [load(at.argument(argument) + at.upper), ifEqual(0, 1, 0), answer(notPermitted)]
        : []),
      load(at.argument(argument)),
      ...(without === undefined ? [] : [and(without)]),
      ...values.flatMap((value) => [ifEqual(value, 0, 1), answer(allow)]),
      answer(notPermitted),
    ];
    program.push(ifEqual(number, 0, rule.length), ...rule);
  }
  program.push(ifAtLeast(firstUnknown, 0, 1), answer(notImplemented), answer(notPermitted));
  const bytes = new Uint8Array(8 * program.length);
  const view = new DataView(bytes.buffer);
  for (const [i, [code, yes, no, value]] of program.entries()) {
    view.setUint16(8 * i, code, true);
    view.setUint8(8 * i + 2, yes);
    view.setUint8(8 * i + 3, no);
    view.setUint32(8 * i + 4, value, true);
  }
  return bytes;
}

/** What isolates a CPython of the machine. */
const isolations = ["bubblewrap", "none"] as const;
export type Isolation = (typeof isolations)[number];

/** Which CPython, and in which sandbox. */
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

/** A pool, and what isolates its interpreters. */
export interface SystemPython {
  pool: PythonPool;
  version: string;
  isolation: Isolation;
  /** One line for people. */
  about: string;
}

/** Why a CPython of this machine cannot be sandboxed, in one line; undefined where it can. */
export function sandboxUnavailableReason(): string | undefined {
  const trouble = sandboxTrouble();
  if (trouble !== undefined) return trouble;
  return spawnSync("python3", ["-c", ""]).status === 0 ? undefined : "no python3 on the PATH";
}

/** Why this machine has no sandbox for it, without looking for an interpreter. */
function sandboxTrouble(): string | undefined {
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
  // A folder that contains the user's own, or a link to one, would show all of it.
  const homes = [homedir(), existsSync(homedir()) ? realpathSync(homedir()) : homedir()];
  const holdsHome = (folder: string) =>
    homes.some((home) => `${home}/`.startsWith(folder === "/" ? folder : `${folder}/`));
  const shown = folders.filter(
    (folder) => existsSync(folder) && !holdsHome(folder) && !holdsHome(realpathSync(folder)),
  );
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
  const trouble = isolation === "none" ? undefined : sandboxTrouble();
  if (trouble !== undefined) {
    throw new Error(
      `Cannot start Python: bubblewrap (0.7 or newer, and the name spaces it needs) must work here, got: ${trouble} (install it, ${orPyodide})`,
    );
  }
  const { version, executable, folders } = inspect(options.python ?? "python3");
  const sandboxed = isolation === "bubblewrap";
  const filtered = system === "linux" && isSandboxArch(architecture);
  const start = (preload: string[]) => {
    const settings = {
      harness,
      preload,
      memoryBytes: limits.memoryMb * 2 ** 20,
      fileBytes: sandboxed ? scratchBytes : 0,
      sandboxed,
      nobody,
      filter: filtered ? toBase64(seccompFilter(architecture as SandboxArch)) : null,
    };
    const python = [executable, "-s", "-c", server, JSON.stringify(settings)];
    const [file, ...args] = sandboxed
      ? ["bwrap", ...bubblewrapArguments(folders), ...python]
      : python;
    return heldByProcess({ file: file!, args, env: sandboxEnv });
  };
  const pool = new PythonPool({ light: start([]), heavy: start(["sympy"]) }, limits);
  return {
    pool,
    version,
    isolation,
    about: `Python ${version} at ${executable}, ${isolationText[isolation]}`,
  };
}

const isolationText: Record<Isolation, string> = {
  bubblewrap: "inside bubblewrap: own file system, no network, no other processes",
  none: "without isolation: resource limits and a filter of system calls only",
};

/** The interpreter of a conda environment, as the reference names it. */
export const condaPython = (condaPath: string, condaEnv: string) =>
  join(condaPath, "envs", condaEnv, "bin/python");
