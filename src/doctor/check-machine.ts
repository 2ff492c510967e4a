import { checkOptions, texts } from "../../common/options/check-options.js";
import { sandboxUnavailableReason } from "../tools/python/system-python.js";
import { type Check, findings } from "./check.js";
import { endpointCheck, type EndpointToCheck } from "./machine/endpoints.js";
import { hostChecks } from "./machine/host.js";
import { keyChecks } from "./machine/keys.js";
import { firstProgram, runProgram } from "./machine/run-program.js";
import { tensorChecks } from "./machine/tensors.js";

async function sandbox(): Promise<Check[]> {
  const { ok: fine, note, error } = findings("Python");
  const { pythonTool } = await import("../tools/python/python-tool.js");
  const { ToolSet } = await import("../tools/tool-set.js");
  await using tools = new ToolSet([pythonTool({ workers: 1 })], { timeoutMs: 120_000 });
  const began = performance.now();
  const { text, ok } = await tools.call("python", "print(2 + 2)");
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const pyodide =
    ok && text.trim() === "4"
      ? fine("pyodide", `the built-in sandbox (Pyodide) answers, ${seconds} s cold`)
      : error(
          "pyodide",
          `the built-in sandbox (Pyodide) says ${JSON.stringify(text.slice(0, 80))} to print(2 + 2)`,
          "npm ci; data/python must be in the package's folder",
        );
  const python = await firstProgram([process.env["ARPO_LAB_PYTHON"], "python3"], ["--version"]);
  if (!python) {
    return [pyodide, note("python", "no Python on this machine, and none is needed")];
  }
  const trouble = sandboxUnavailableReason();
  const modules = ["numpy", "sympy", "torch", "transformers"];
  const code = `import importlib.util as u;print(" ".join(m for m in ${JSON.stringify(modules)} if u.find_spec(m)))`;
  const has = (await runProgram(python.name, ["-c", code])) || "none of " + modules.join(", ");
  return [
    pyodide,
    fine("python", `${python.says} (${python.name}) with ${has}`),
    trouble === undefined
      ? fine("isolation", "sandbox for it: bubblewrap")
      : note(
          "isolation",
          `the system's Python cannot be sandboxed, so \`python: system\` is refused: ${trouble}`,
          "install bubblewrap (0.7 or newer) and allow user namespaces, or stay with the built-in sandbox",
        ),
  ];
}

async function notebooks(): Promise<Check[]> {
  const { ok, note } = findings("notebooks");
  const browser = await firstProgram(
    ["chromium", "chromium-browser", "google-chrome", "firefox"],
    ["--version"],
  );
  const jupyter = await runProgram("jupyter", ["--version"]);
  const core = jupyter?.split("\n").find((line) => line.includes("jupyter"));
  return [
    browser
      ? ok("browser", `browser: ${browser.says.trim()}`)
      : note(
          "browser",
          "no browser was found on PATH",
          "open the address that `arpo-lab lab` prints in any browser",
        ),
    jupyter === undefined
      ? note("jupyter", "no Jupyter, and none is needed: `arpo-lab lab` brings its own server")
      : ok(
          "jupyter",
          `Jupyter is there${core === undefined ? "" : ` (${core.trim()})`}; \`arpo-lab kernel install\` tells it of the kernel`,
        ),
  ];
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
  const programs = [...(await sandbox()), ...(await notebooks())];
  const reached = await Promise.all(endpoints.map((endpoint) => endpointCheck(endpoint)));
  return [...host, ...tensors, ...programs, ...reached, ...keyChecks(keys)];
}
