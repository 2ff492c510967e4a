import { cores, knowsFlag, ownProgram } from "#platform/process";
import { existsSync, readFileSync, realpathSync } from "#platform/files";
import { type FramedPython, packagePath, pythonFrame, resolvePackage } from "#platform/modules";
import { dirname, join } from "#platform/path";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, type OptionRules, positive } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { type ChildCommand, heldByProcess } from "./child-process.js";
import type { ChildReady, ChildReply } from "./protocol.js";
import type { Hold } from "./python-child.js";
import { type PythonLimits, PythonPool } from "./python-pool.js";

/** A worker as a thread of a page's frame. */
const heldByFrame =
  (open: () => FramedPython): Hold =>
  (heard, ended) => {
    const { port, end } = open();
    port.onmessage = ({ data }: MessageEvent<ChildReady | ChildReply>) => heard(data);
    return {
      send: (request) => port.postMessage(request),
      hold: () => undefined, // A page's thread lives until it is ended.
      kill: () => {
        end();
        port.close();
        ended("it was ended");
      },
    };
  };

/** sympy and mpmath, without their tests, as one zip that Python imports from. */
const packages = packagePath("data/python/packages.zip");

export const pythonRules: OptionRules<PythonLimits> = {
  timeoutMs: positive,
  memoryMb: positive,
  maxOutput: positive,
  workers: positive,
};

/** Unset limits filled in. */
export function withDefaults(limits: PythonLimits): Required<PythonLimits> {
  const all = {
    timeoutMs: limits.timeoutMs ?? 120_000,
    memoryMb: limits.memoryMb ?? 512,
    maxOutput: limits.maxOutput ?? 100_000,
    workers: limits.workers ?? Math.min(4, cores()),
  };
  checkOptions("start Python", all, pythonRules);
  return all;
}

/**
 * A pool of Pyodide interpreters, each in a process of its own: CPython compiled to WebAssembly, so
 * no Python is needed on the machine.
 *
 * The boundaries, from the outside: a process that may read only its own script and Python's library and write nothing (Node's
 * permission model), with an empty environment; no JavaScript from strings; no Node globals; no
 * bridge modules; WebAssembly memory with a ceiling; time limits that end in a kill.
 */
export function pyodidePool(limits: PythonLimits = {}): PythonPool {
  checkArguments("run Python", { limits }, { limits: "object" });
  const all = withDefaults(limits);
  const memoryBytes = all.memoryMb * 2 ** 20;
  const frame = pythonFrame;
  const start = (preload?: string): Hold =>
    frame === undefined
      ? heldLater(() => commandOf(memoryBytes, preload))
      : heldByFrame(() => frame({ memoryBytes, preload }));
  return new PythonPool({ light: start(), heavy: start("sympy") }, all);
}

/** A worker whose command is not known yet. Nobody speaks to it before it says that it is ready. */
const heldLater =
  (find: () => Promise<ChildCommand>): Hold =>
  (heard, ended) => {
    let held: ReturnType<Hold> | undefined;
    let isBusy = false;
    let isOver = false;
    find().then(
      (command) => {
        if (isOver) return;
        held = heldByProcess(command)(heard, ended);
        held.hold(isBusy);
      },
      (error: unknown) => ended(error instanceof Error ? error.message : String(error)),
    );
    return {
      get pid() {
        return held?.pid;
      },
      send: (request) => held?.send(request),
      hold: (busy) => {
        isBusy = busy;
        held?.hold(busy);
      },
      kill: () => {
        if (held) return held.kill();
        isOver = true;
        ended("it was ended");
      },
    };
  };

/** A process around an interpreter, which starts from the compiled library. */
async function commandOf(memoryBytes: number, preload?: string): Promise<ChildCommand> {
  const place = pyodideFolder();
  const { compiledLibrary } = await import("./compiled-library.js");
  const library = await compiledLibrary(
    place.version,
    command(place.indexURL, { packs: true, memoryBytes }),
  );
  const isThere = existsSync(packages);
  return command(place.indexURL, {
    memoryBytes,
    ...defined({ library }),
    ...(isThere ? { packages, ...defined({ preload }) } : {}),
  });
}

/** Where Pyodide is, and which one. */
function pyodideFolder(): { indexURL: string; version: string } {
  const indexURL = realpathSync(dirname(resolvePackage("pyodide/package.json")!));
  const { version } = JSON.parse(readFileSync(join(indexURL, "package.json"), "utf8")) as {
    version: string;
  };
  return { indexURL, version };
}

function command(
  indexURL: string,
  settings: {
    memoryBytes: number;
    library?: string;
    packages?: string;
    preload?: string;
    packs?: true;
  },
): ChildCommand {
  const script = packagePath("dist/src/tools/python/pyodide-child.js");
  const folders = [dirname(script), dirname(packages), indexURL].filter((f) => existsSync(f));
  return {
    file: ownProgram,
    args: [
      ...permissionFlags(folders, settings.library),
      "--disallow-code-generation-from-strings",
      "--no-warnings",
      "--max-old-space-size=256",
      "--stack-size=2000",
      script,
      JSON.stringify({ ...settings, indexURL: `${indexURL}/` }),
    ],
    env: { TZ: "UTC" },
  };
}

/** Read these folders and this file, nothing else; the flag's name changed with Node 23.5 and 22.13. */
function permissionFlags(folders: string[], file?: string): string[] {
  const flag = knowsFlag("--permission") ? "--permission" : "--experimental-permission";
  const real = folders.flatMap((folder) => [folder, realpathSync(folder)]);
  const files = file === undefined ? [] : [file, realpathSync(file)];
  const places = [...real.map((folder) => join(folder, "*")), ...files];
  return [flag, ...new Set(places.map((place) => `--allow-fs-read=${place}`))];
}
