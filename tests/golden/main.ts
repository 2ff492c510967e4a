import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { difference, type Tolerance } from "./compare.js";
import type { Runner, Runners } from "./runner.js";

interface VectorCase {
  input: unknown;
  expected: unknown;
  /** Where one case is looser or stricter than its file. */
  rtol?: number;
  atol?: number;
}

interface VectorFile {
  name?: string;
  precision?: string;
  cases?: VectorCase[];
}

/** What became of one file: cases that passed, and what is wrong, a line each. */
interface Outcome {
  kind: string;
  cases: number;
  failures: string[];
}

/** The runners of every file in `kinds/`: a new kind is a new file there, or a line in one. */
async function findRunners(): Promise<Runners> {
  const folder = new URL("kinds/", import.meta.url);
  const files = (await readdir(folder)).filter((file) => file.endsWith(".js")).sort();
  const found: Runners = {};
  for (const file of files) {
    const { runners } = (await import(new URL(file, folder).href)) as { runners: Runners };
    const twice = Object.keys(runners).find((kind) => Object.hasOwn(found, kind));
    if (twice) throw new Error(`Cannot check golden cases: ${twice} must have one runner, got two`);
    Object.assign(found, runners);
  }
  return found;
}

const runners = await findRunners();

/** The tolerance that a file's `precision` asks for in words; the strictest reading is the default. */
function toleranceOf(precision = ""): Tolerance {
  if (precision === "exact") return { relative: 0, absolute: 0 };
  const named = (key: string) => new RegExp(`${key} ([0-9.e-]*[0-9])`).exec(precision)?.[1];
  const [relative, absolute] = [named("rtol"), named("atol")];
  return { relative: Number(relative ?? 1e-12), absolute: Number(absolute ?? 1e-12) };
}

const special: Record<string, number> = { NaN, Infinity, "-Infinity": -Infinity };

/** JSON has no NaN and infinities; the files write them as strings, in lists of numbers. */
function withSpecialNumbers(value: unknown): unknown {
  if (Array.isArray(value)) {
    const numbers =
      value.some((v) => typeof v === "number") &&
      value.every((v) => typeof v === "number" || (typeof v === "string" && v in special));
    return value.map((v) => (numbers ? (special[v as string] ?? v) : withSpecialNumbers(v)));
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, withSpecialNumbers(v)]));
}

function empty(expected: unknown): boolean {
  return (
    expected === undefined ||
    expected === null ||
    (typeof expected === "object" && Object.keys(expected).length === 0)
  );
}

async function checkCase(one: VectorCase, run: Runner, file: Tolerance) {
  if (empty(one.expected)) return "expects nothing, so nothing can be checked";
  const tolerance = {
    relative: one.rtol ?? file.relative,
    absolute: one.atol ?? file.absolute,
  };
  try {
    return difference(await run(withSpecialNumbers(one.input)), one.expected, tolerance);
  } catch (error) {
    return `threw ${String(error instanceof Error ? error.stack : error)}`;
  }
}

async function checkFile(path: string): Promise<Outcome> {
  const fallback = basename(path, ".json");
  const broken = (why: string, kind = fallback) => ({ kind, cases: 0, failures: [`  ${why}`] });
  let file: VectorFile | null;
  try {
    file = JSON.parse(await readFile(path, "utf8")) as VectorFile | null;
  } catch (error) {
    return broken(`is not JSON: ${String(error)}`);
  }
  const { name: kind = fallback, cases, precision } = file ?? {};
  const run = Object.hasOwn(runners, kind) ? runners[kind] : undefined;
  if (!run)
    return broken(`is of no kind that is checked: ${Object.keys(runners).join(", ")}`, kind);
  if (!Array.isArray(cases) || cases.length === 0) return broken("has no cases", kind);
  const failures: string[] = [];
  for (const [i, one] of cases.entries()) {
    const found = await checkCase(one, run, toleranceOf(precision));
    if (found) failures.push(`  case ${i}: ${found}`);
  }
  return { kind, cases: cases.length, failures };
}

/**
 * Prints a line per golden-case file of a folder and a closing count; the exit status. Whatever is in the
 * folder and cannot be checked counts as failed: a file of another kind, without cases, not JSON.
 */
export async function checkGoldenCases(dir: string | undefined): Promise<number> {
  if (dir === undefined) {
    console.error(
      "Cannot check golden cases: name the folder, as in `npm run golden -- tests/golden/cases`",
    );
    return 2;
  }
  let names: string[];
  try {
    names = (await readdir(dir, { recursive: true })).filter((f) => f.endsWith(".json")).sort();
  } catch (error) {
    console.error(
      `Cannot check golden cases: ${dir} must be a folder that can be read: ${String(error)}`,
    );
    return 2;
  }
  let passed = 0;
  let failed = 0;
  const unchecked: string[] = [];
  for (const name of names) {
    const { kind, cases, failures } = await checkFile(join(dir, name));
    const label = basename(name, ".json") === kind ? kind : `${kind} (${name})`;
    if (cases === 0) unchecked.push(name);
    console.log(
      cases === 0 ? `${label}: NOT CHECKED` : `${label}: ${cases - failures.length}/${cases}`,
    );
    for (const line of failures.slice(0, 3)) console.log(line);
    if (failures.length > 3) console.log(`  and ${failures.length - 3} more`);
    passed += cases - Math.min(cases, failures.length);
    failed += Math.min(cases, failures.length);
  }
  const rest = unchecked.length > 0 ? `, ${unchecked.length} files not checked` : "";
  console.log(`${passed} passed, ${failed} failed${rest}`);
  if (names.length === 0) console.log(`Nothing was checked: there is no .json file in ${dir}`);
  return failed > 0 || passed === 0 || unchecked.length > 0 ? 1 : 0;
}
