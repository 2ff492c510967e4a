// What `./card` of the card kit runs: finds the card, checks the kernels on it, measures it (tools/bench/gpu.ts), and
// prints one JSON object on standard output, and the same as a table on standard error. At most eight minutes.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Figure, figureLine } from "../figure.js";
import { type Check, runChecks } from "./checks.js";
import { findDriver } from "./drivers.js";

const MINUTES = 8;
/** The largest model may take this long, so it does not start later. */
const LAST_MODEL = 1.5;

const began = performance.now();
const minutesLeft = () => MINUTES - (performance.now() - began) / 60_000;
const say = (text: string) => process.stderr.write(`${text}\n`);

const args = process.argv.slice(2);
const wrong = args.find((arg) => arg !== "--quick");
if (wrong !== undefined) {
  say(`Cannot measure a card: the only option is --quick, got ${wrong}`);
  process.exit(2);
}
const quick = args.length > 0;

/** The figures of `bench gpu`, as they come; what it says on standard error is said and kept. */
async function measure(notes: string[]): Promise<Figure[]> {
  const main = fileURLToPath(new URL("../main.js", import.meta.url));
  const time = ["--minutes", String(Math.max(0.01, minutesLeft() - LAST_MODEL))];
  const bench = spawn(process.execPath, [
    ...[main, "gpu", "--json", ...time, ...(quick ? ["--quick"] : [])],
  ]);
  const stop = setTimeout(
    () => {
      notes.push(`stopped after ${MINUTES} minutes`);
      bench.kill("SIGKILL");
    },
    Math.max(1, minutesLeft() * 60_000),
  );
  const found: Figure[] = [];
  createInterface(bench.stdout).on("line", (line) => {
    found.push(JSON.parse(line) as Figure);
    say(figureLine(found.at(-1)!));
  });
  createInterface(bench.stderr).on("line", (line) => {
    if (line.includes("XDG_RUNTIME_DIR")) return; // Dawn's loader says so without a desktop
    notes.push(line);
    say(line);
  });
  const status = await new Promise((resolve) => bench.on("close", resolve));
  clearTimeout(stop);
  if (status !== 0) notes.push(`the benchmark ended with status ${String(status)}`);
  return found;
}

async function report(): Promise<boolean> {
  const driver = findDriver(say);
  try {
    const { name, software, features, file } = driver;
    say(
      `${name}${software ? ": a SOFTWARE adapter, so the figures say nothing about a card" : ""}`,
    );
    // For the tests and the benchmark, which are processes of their own.
    process.env.ARPO_LAB_CARD = name;
    if (file !== undefined) process.env.VK_ICD_FILENAMES = file;
    const checks: Check[] = [];
    for await (const check of runChecks(quick, minutesLeft() * 60_000)) {
      checks.push(check);
      say(`${check.passed ? "passed" : "FAILED"} ${check.name}`);
      if (check.error !== undefined) say(`  ${check.error}`);
    }
    const notes: string[] = [];
    const figures = await measure(notes);
    const passed = checks.length > 0 && checks.every((check) => check.passed);
    const measured = figures.some((figure) => figure.name.endsWith(".train"));
    say(`kernels: ${passed ? "as the engine's" : "NOT as the engine's"}`);
    const { version, commit } = JSON.parse(
      readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"),
    ) as { version: string; commit?: string };
    const machine = {
      ...{ processor: cpus()[0]?.model ?? "unknown", cores: availableParallelism() },
      ...{ memoryGB: Math.round(totalmem() / 1e9), node: process.version },
    };
    const seconds = Math.round((performance.now() - began) / 1000);
    const whole = {
      ...{ kit: { version, commit }, date: new Date().toISOString(), quick, seconds },
      ...{ adapter: { name, software, features, driver: file ?? "the system's" }, machine },
      ...{ passed, checks, figures, notes },
    };
    process.stdout.write(`${JSON.stringify(whole, null, 1)}\n`);
    return passed && measured;
  } finally {
    driver.dispose();
  }
}

try {
  process.exitCode = (await report()) ? 0 : 1;
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
