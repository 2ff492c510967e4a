import { checkOptions, texts } from "../../arguments/check-options.js";
import { sandboxUnavailableReason } from "../tools/python/system-python.js";
import type { Check } from "./check.js";
import { endpointCheck, type EndpointToCheck } from "./machine/endpoints.js";
import { hostChecks } from "./machine/host.js";
import { keyChecks } from "./machine/keys.js";
import { firstProgram, runProgram } from "./machine/run-program.js";
import { tensorChecks } from "./machine/tensors.js";

async function sandbox(): Promise<Check[]> {
  const area = "Python";
  const { pythonTool } = await import("../tools/python/python-tool.js");
  const { ToolSet } = await import("../tools/tool-set.js");
  await using tools = new ToolSet([pythonTool({ workers: 1 })], { timeoutMs: 120_000 });
  const began = performance.now();
  const checks: Check[] = [];
  const { text, ok } = await tools.call("python", "print(2 + 2)");
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  checks.push(
    ok && text.trim() === "4"
      ? {
          id: "pyodide",
          area,
          status: "ok",
          found: `the built-in sandbox (Pyodide) answers, ${seconds} s cold`,
        }
      : {
          id: "pyodide",
          area,
          status: "error",
          found: `the built-in sandbox (Pyodide) says ${JSON.stringify(text.slice(0, 80))} to print(2 + 2)`,
          fix: "npm ci; data/python must be in the package's folder",
        },
  );
  const python = await firstProgram([process.env["ARPO_LAB_PYTHON"], "python3"], ["--version"]);
  if (!python) {
    const found = "no Python on this machine, and none is needed";
    return [...checks, { id: "python", area, status: "note", found }];
  }
  const trouble = sandboxUnavailableReason();
  const modules = ["numpy", "sympy", "torch", "transformers"];
  const code = `import importlib.util as u;print(" ".join(m for m in ${JSON.stringify(modules)} if u.find_spec(m)))`;
  const has = (await runProgram(python.name, ["-c", code])) || "none of " + modules.join(", ");
  checks.push({
    id: "python",
    area,
    status: "ok",
    found: `${python.says} (${python.name}) with ${has}`,
  });
  checks.push(
    trouble === undefined
      ? { id: "isolation", area, status: "ok", found: "sandbox for it: bubblewrap" }
      : {
          id: "isolation",
          area,
          status: "note",
          found: `the system's Python cannot be sandboxed, so \`python: system\` is refused: ${trouble}`,
          fix: "install bubblewrap (0.7 or newer) and allow user namespaces, or stay with the built-in sandbox",
        },
  );
  return checks;
}

async function notebooks(): Promise<Check[]> {
  const area = "notebooks";
  const browser = await firstProgram(
    ["chromium", "chromium-browser", "google-chrome", "firefox"],
    ["--version"],
  );
  const jupyter = await runProgram("jupyter", ["--version"]);
  const core = jupyter?.split("\n").find((line) => line.includes("jupyter"));
  return [
    browser
      ? { id: "browser", area, status: "ok", found: `browser: ${browser.says.trim()}` }
      : {
          id: "browser",
          area,
          status: "note",
          found: "no browser was found on PATH",
          fix: "open the address that `arpo-lab lab` prints in any browser",
        },
    jupyter === undefined
      ? {
          id: "jupyter",
          area,
          status: "note",
          found: "no Jupyter, and none is needed: `arpo-lab lab` brings its own server",
        }
      : {
          id: "jupyter",
          area,
          status: "ok",
          found: `Jupyter is there${core === undefined ? "" : ` (${core.trim()})`}; \`arpo-lab kernel install\` tells it of the kernel`,
        },
  ];
}

/** Python and its sandbox, browsers and Jupyter. */
async function programChecks(): Promise<Check[]> {
  return [...(await sandbox()), ...(await notebooks())];
}

export interface MachineOptions {
  /** Endpoints to try. */
  endpoints?: readonly EndpointToCheck[];
  /** Environment variables that must hold keys. */
  keys?: readonly string[];
}

/**
 * What this machine has, what will be slow on it, and what helps.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkMachine } from "arpo-lab/experimental/doctor";
 *
 * const checks = await checkMachine();
 * assert.equal(checks.find(({ id }) => id === "node")?.status, "ok");
 * assert.ok(checks.some(({ id }) => id === "backend"));
 * ```
 */
export async function checkMachine(options: MachineOptions = {}): Promise<Check[]> {
  checkOptions("check this machine", options, { endpoints: "list?", keys: texts });
  const { endpoints = [], keys } = options;
  // One after another: the trial of the tensors wants the machine for itself.
  const host = await hostChecks();
  const tensors = await tensorChecks();
  const programs = await programChecks();
  const reached = await Promise.all(endpoints.map((endpoint) => endpointCheck(endpoint)));
  return [...host, ...tensors, ...programs, ...reached, ...keyChecks(keys)];
}
