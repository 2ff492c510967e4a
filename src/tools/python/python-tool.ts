import {
  checkOptions,
  type OptionRules,
  optionsFor,
} from "../../../common/options/check-options.js";
import type { Tool } from "../tool.js";
import { pyodidePool } from "./pyodide-python.js";
import type { PythonLimits, PythonPool } from "./python-pool.js";
import {
  condaPython,
  type Isolation,
  systemPython,
  type SystemPythonOptions,
  systemPythonRules,
} from "./system-python.js";

const longest = 200;
const tokens = /\s*(?:(\d+)|(\/\/|[-+*%()]))/y;

/**
 * What Python prints for arithmetic on whole numbers: `1069 - 40`, `print((3 + 4) * -2 // 5)`. Undefined for all other
 * code, also where Python would report an error.
 */
export function integerArithmetic(code: string): string | undefined {
  const text = code.trimEnd();
  if (text.length > longest || !/^(?:[-+(\d]|print\()[^\n\r]*$/.test(text)) return undefined;
  const read = tokensOf(/^print\((.*)\)$/.exec(text)?.[1] ?? text);
  if (read === undefined) return undefined;
  let at = 0;
  const next = (...wanted: string[]): string | undefined =>
    wanted.includes(read[at] ?? "") ? read[at++] : undefined;
  /** A number, with signs before it, or a sum in parentheses. */
  function factor(): bigint {
    const sign = next("-", "+");
    if (sign !== undefined) return sign === "-" ? -factor() : factor();
    if (next("(") !== undefined) {
      const inner = sum();
      if (next(")") === undefined) throw new SyntaxError("no closing parenthesis");
      return inner;
    }
    return BigInt(read![at++] ?? "none");
  }
  function product(): bigint {
    let value = factor();
    for (let sign; (sign = next("*", "//", "%")) !== undefined;) {
      const by = factor();
      // Python's rest has the sign of the divisor.
      const rest = sign === "*" ? 0n : ((value % by) + by) % by;
      value = sign === "*" ? value * by : sign === "%" ? rest : (value - rest) / by;
    }
    return value;
  }
  function sum(): bigint {
    let value = product();
    for (let sign; (sign = next("+", "-")) !== undefined;)
      value = sign === "+" ? value + product() : value - product();
    return value;
  }
  try {
    const value = sum();
    return at === read.length ? String(value) : undefined;
  } catch {
    return undefined; // Python says what is wrong
  }
}

/** Numbers and signs; undefined where there is anything else, or a number that starts with 0. */
function tokensOf(text: string): string[] | undefined {
  const found: string[] = [];
  tokens.lastIndex = 0;
  while (tokens.lastIndex < text.length) {
    const [, number, sign] = tokens.exec(text) ?? [];
    if (number === undefined && sign === undefined) return undefined;
    if (number !== undefined && /^0\d/.test(number)) return undefined;
    found.push(number ?? sign!);
  }
  return found;
}

/** Which Python the model's code runs in, and its limits. */
export interface PythonToolOptions extends PythonLimits {
  /** `pyodide` (default) needs no Python here; `system` or a path is a CPython of this machine. */
  python?: string;
  /** Where conda is installed, by the reference's name. Default: none. */
  condaPath?: string;
  /** The conda environment whose Python runs the code. Default: none. */
  condaEnv?: string;
  /** The isolation of a CPython of this machine. Default: the strongest that works. */
  isolation?: Isolation;
  /** Run code again when it printed nothing, as the reference does. Default: no. */
  retryEmpty?: boolean;
  /** The tag the model calls it by. Default: `python`. */
  tag?: string;
}

const rules: OptionRules<PythonToolOptions> = {
  ...systemPythonRules,
  condaPath: "text?",
  condaEnv: "text?",
  retryEmpty: "boolean?",
  tag: "text?",
};

/** The Python tool, with the pool it runs in. */
export interface PythonTool extends Tool {
  readonly pool: PythonPool;
  /** One line on the interpreter and its sandbox. */
  readonly about: string;
}

/**
 * Runs Python. The model reads standard output, or the traceback; the value of a last expression is
 * printed as in a notebook cell. Every call starts from nothing: no variable, file or patched module
 * of an earlier call is there. Python starts with the first call that is more than arithmetic on whole numbers.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { pythonTool, ToolSet } from "arpo-lab/tools";
 *
 * await using tools = new ToolSet([pythonTool({ workers: 1 })]);
 * const { text } = await tools.call("python", "import math\nmath.comb(10, 3)");
 * assert.equal(text, "120");
 * ```
 */
export function pythonTool(options: PythonToolOptions = {}): PythonTool {
  checkOptions("make a Python tool", options, rules);
  const { pool, about, isPyodide = false } = open(options);
  return {
    name: "python_interpreter",
    tag: options.tag ?? "python",
    description:
      "Runs Python code and returns what it prints; the value of a last expression is printed too.",
    emptyIsAnswer: options.retryEmpty !== true,
    pool,
    about,
    execute: async (code, { signal, timeoutMs }) => {
      // Pyodide takes seconds to start, and the same text comes at once.
      const known = isPyodide && !signal.aborted ? integerArithmetic(code) : undefined;
      if (known !== undefined && known.length <= (options.maxOutput ?? Infinity))
        return { text: known, ok: true, details: { status: 0, timedOut: false } };
      // A little before the caller's own limit, so that the model is told by Python, not by the set.
      const within = Math.max(timeoutMs * 0.9, timeoutMs - 1000);
      const { text, status, timedOut } = await pool.run(code, { signal, timeoutMs: within });
      const isBroken = status === undefined && !timedOut;
      // Nobody knows what the code would have said; running it again would break the next interpreter.
      if (isBroken) return { text, ok: false, error: text, retry: false, details: { timedOut } };
      return { text, ok: true, details: { status, timedOut } };
    },
    dispose: () => pool.dispose(),
  };
}

function open(options: PythonToolOptions): {
  pool: PythonPool;
  about: string;
  isPyodide?: boolean;
} {
  const { condaPath, condaEnv } = options;
  const python =
    options.python ?? (condaPath && condaEnv ? condaPython(condaPath, condaEnv) : "pyodide");
  if (python !== "pyodide") {
    const own = optionsFor<SystemPythonOptions>(systemPythonRules, options);
    return systemPython({ ...own, python: python === "system" ? "python3" : python });
  }
  const about = "Pyodide in processes without files or network";
  return { pool: pyodidePool(options), about, isPyodide: true };
}
