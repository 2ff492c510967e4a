import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { oneArena } from "../node/arenas.js";

/** How a kernel is started and stopped; `{connection_file}` in `argv` is filled in. */
export interface KernelSpec {
  name: string;
  displayName: string;
  language: string;
  argv: string[];
  env: Record<string, string>;
  interrupt: "message" | "signal";
  /** Sockets that the kernel can bind: `ipc` where it is known to, `tcp` for anybody's. */
  transport: "ipc" | "tcp";
  /** It speaks the debugger's protocol: front ends ask nobody else. */
  debugger: boolean;
}

/**
 * This package's own kernel, which need not be installed to be started.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ownKernel } from "arpo-lab/experimental/kernel";
 *
 * assert.equal(ownKernel().name, "arpo-lab");
 * assert.equal(ownKernel("javascript").language, "javascript");
 * ```
 */
export function ownKernel(language: "typescript" | "javascript" = "typescript"): KernelSpec {
  const main = fileURLToPath(new URL("../main.js", import.meta.url));
  return {
    name: language === "typescript" ? "arpo-lab" : "arpo-lab-js",
    displayName: language === "typescript" ? "TypeScript (arpo-lab)" : "JavaScript (arpo-lab)",
    language,
    argv: [process.execPath, main, "{connection_file}", language],
    env: { ...oneArena },
    interrupt: "message",
    transport: "ipc",
    debugger: true,
  };
}

/**
 * Where Jupyter looks for kernels, most particular first.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { kernelFolders } from "arpo-lab/experimental/kernel";
 *
 * assert.ok(kernelFolders({ JUPYTER_DATA_DIR: "/data" })[0]!.startsWith("/data"));
 * ```
 */
export function kernelFolders(env: NodeJS.ProcessEnv = process.env): string[] {
  const roots = (env["JUPYTER_PATH"] ?? "").split(delimiter).filter((path) => path !== "");
  if (process.platform === "win32") roots.push(join(env["APPDATA"] ?? homedir(), "jupyter"));
  else if (process.platform === "darwin") roots.push(join(homedir(), "Library/Jupyter"));
  else roots.push(join(env["XDG_DATA_HOME"] ?? join(homedir(), ".local/share"), "jupyter"));
  if (env["JUPYTER_DATA_DIR"] !== undefined) roots.unshift(env["JUPYTER_DATA_DIR"]);
  for (const prefix of [env["VIRTUAL_ENV"], env["CONDA_PREFIX"]]) {
    if (prefix !== undefined && prefix !== "") roots.push(join(prefix, "share/jupyter"));
  }
  if (process.platform !== "win32") roots.push("/usr/local/share/jupyter", "/usr/share/jupyter");
  return roots.map((root) => join(root, "kernels"));
}

/** What Jupyter takes for a kernel's name: none leads out of the folder of kernels. */
const goodName = /^(?!\.{1,2}$)[\w.-]+$/;

function readSpec(folder: string, name: string): KernelSpec | undefined {
  let text: string;
  try {
    text = readFileSync(join(folder, name, "kernel.json"), "utf8");
  } catch {
    return undefined; // a folder without kernel.json is no kernel
  }
  const spec = JSON.parse(text) as Record<string, unknown>;
  return {
    name,
    displayName: String(spec["display_name"] ?? name),
    language: String(spec["language"] ?? ""),
    argv: (spec["argv"] as string[]).map((part) =>
      part.replaceAll("{resource_dir}", join(folder, name)),
    ),
    env: (spec["env"] ?? {}) as Record<string, string>,
    interrupt: spec["interrupt_mode"] === "message" ? "message" : "signal",
    transport: "tcp",
    debugger: (spec["metadata"] as { debugger?: unknown } | undefined)?.debugger === true,
  };
}

/**
 * A kernel by the name it is installed under; ours is always there.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { findKernel } from "arpo-lab/experimental/kernel";
 *
 * assert.equal(findKernel("arpo-lab").displayName, "TypeScript (arpo-lab)");
 * assert.throws(() => findKernel("cobol"), /it must be one of arpo-lab, /);
 * ```
 */
export function findKernel(name: string, folders = kernelFolders()): KernelSpec {
  if (!goodName.test(name)) {
    const rule = "its name must be letters, digits, dots, dashes and underscores";
    throw new RangeError(`Cannot start kernel: ${rule}, got ${JSON.stringify(name)}`);
  }
  for (const folder of folders) {
    const spec = readSpec(folder, name);
    if (spec !== undefined) return spec;
  }
  if (name === "arpo-lab") return ownKernel("typescript");
  if (name === "arpo-lab-js") return ownKernel("javascript");
  const names = folders.flatMap((folder) => {
    try {
      return readdirSync(folder);
    } catch {
      return []; // most of these folders do not exist
    }
  });
  const known = ["arpo-lab", "arpo-lab-js", ...names].join(", ");
  throw new RangeError(`Cannot start kernel: it must be one of ${known}, got ${name}`);
}

/** The kernel a notebook asks for: ours for TypeScript and JavaScript, whoever's name they carry. */
export function kernelOf(metadata: Record<string, unknown>): KernelSpec {
  const spec = (metadata["kernelspec"] ?? {}) as { name?: unknown; language?: unknown };
  const info = (metadata["language_info"] ?? {}) as { name?: unknown };
  const language = String(spec.language ?? info.name ?? "").toLowerCase();
  const name = typeof spec.name === "string" ? spec.name : "";
  if (name === "jslab" || name === "arpo-lab-js" || language === "javascript") {
    return ownKernel("javascript");
  }
  const ours = ["", "tslab", "deno", "arpo-lab"].includes(name) || language === "typescript";
  return ours ? ownKernel("typescript") : findKernel(name);
}
