import { oneArena } from "../../../kernel/node/arenas.js";
import { kernelLogo } from "../../../kernel/client/kernel-logo.js";
import { PROTOCOL_VERSION } from "../../../kernel/wire/message.js";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

interface KernelSpec {
  name: string;
  json: {
    argv: string[];
    env: Readonly<Record<string, string>>;
    display_name: string;
    language: string;
    interrupt_mode: "message" | "signal";
    metadata: Record<string, unknown>;
    /** Protocol 5.5 says it here, for front ends that ask before they start a kernel. */
    kernel_protocol_version: string;
  };
  logo: string;
}

/** The kernels this package offers to Jupyter, started with the Node that runs this. */
export function kernelSpecs(): KernelSpec[] {
  const main = fileURLToPath(new URL("../../../kernel/main.js", import.meta.url));
  const spec = (name: string, title: string, language: string): KernelSpec => ({
    name,
    json: {
      argv: [process.execPath, main, "{connection_file}", language],
      env: oneArena,
      display_name: title,
      language,
      kernel_protocol_version: PROTOCOL_VERSION,
      // A message is answered, works on every system and hits nobody else in the process group. A
      // signal interrupts as well, from a terminal for example.
      interrupt_mode: "message",
      metadata: { debugger: true, supported_encryption: ["curve"] },
    },
    logo: kernelLogo(language),
  });
  return [
    spec("arpo-lab", "TypeScript (arpo-lab)", "typescript"),
    spec("arpo-lab-js", "JavaScript (arpo-lab)", "javascript"),
  ];
}

/** Where a kernel is installed: `user` unless one of the others is given. */
export interface Place {
  user?: boolean;
  prefix?: string;
  sysPrefix?: boolean;
}

/** Jupyter's own folder of this user, as `jupyter --data-dir` prints it. */
function userDataFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.JUPYTER_DATA_DIR) return env.JUPYTER_DATA_DIR;
  if (process.platform === "win32") return join(env.APPDATA ?? homedir(), "jupyter");
  if (process.platform === "darwin") return join(homedir(), "Library", "Jupyter");
  return join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "jupyter");
}

/** The active virtual or conda environment; failing that, that of the first `python3` on the path. */
function activePrefix(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const active = env.VIRTUAL_ENV || env.CONDA_PREFIX;
  if (active) return active;
  const names = process.platform === "win32" ? ["python.exe"] : ["python3", "python"];
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (names.some((name) => existsSync(join(folder, name)))) {
      return process.platform === "win32" ? folder : dirname(folder);
    }
  }
  return undefined;
}

/** The folder that holds one folder per kernel. */
export function kernelFolder(place: Place, env: NodeJS.ProcessEnv = process.env): string {
  if (place.prefix !== undefined) return join(resolve(place.prefix), "share", "jupyter", "kernels");
  if (!place.sysPrefix) return join(userDataFolder(env), "kernels");
  const prefix = activePrefix(env);
  if (prefix === undefined) {
    throw new Error(
      "Cannot find a Python environment: --sys-prefix needs VIRTUAL_ENV, CONDA_PREFIX or python3 on the path; use --prefix DIR",
    );
  }
  return join(prefix, "share", "jupyter", "kernels");
}

/** Everywhere Jupyter looks that an installation can be in, without duplicates. */
export function jupyterFolders(env: NodeJS.ProcessEnv = process.env): string[] {
  const prefix = activePrefix(env);
  const folders = [
    ...(env.JUPYTER_PATH?.split(delimiter) ?? []),
    userDataFolder(env),
    ...(prefix === undefined ? [] : [join(prefix, "share", "jupyter")]),
    ...(process.platform === "win32" ? [] : ["/usr/local/share/jupyter", "/usr/share/jupyter"]),
  ];
  return [...new Set(folders.filter((folder) => folder !== ""))];
}
