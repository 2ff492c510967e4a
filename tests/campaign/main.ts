// `npm run campaign -- faults|attacks|soak [--seed N] [--count N] [--minutes N] [--area NAME] [--results FILE]`:
// attempts to break what is promised, on this machine alone. Results are kept as they come: the same command goes on
// where it was stopped.
import { fork, type ChildProcess } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { campaigns } from "./areas.js";
import { reportOf } from "./report.js";
import { soak } from "./soak.js";
import { areasOf, attemptOf, type Order, type Result } from "./order.js";

const [campaign = "", ...rest] = process.argv.slice(2);
const options = new Map<string, string>();
for (let i = 0; i < rest.length; i += 2) options.set(rest[i]!, rest[i + 1] ?? "");

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
const known = ["--seed", "--count", "--minutes", "--area", "--results", "--only"];
for (const [name, value] of options) {
  const isNumber = !["--area", "--results"].includes(name);
  if (!known.includes(name) || value === "" || (isNumber && !/^\d+(\.\d+)?$/.test(value))) {
    fail(`Cannot run a campaign: options are ${known.join(", ")}, each with a value, got ${name}`);
  }
}
const number = (name: string, otherwise: number) => Number(options.get(name) ?? otherwise);
if (campaign !== "soak" && !(campaign in campaigns)) {
  fail(`Cannot run a campaign: its name must be faults, attacks or soak, got ${campaign}`);
}
if (campaign === "soak") {
  process.exit((await soak(number("--minutes", 120))) ? 0 : 1);
}

const seed = number("--seed", Math.floor(Math.random() * 1e9));
const count = number("--count", campaign === "faults" ? 500 : 600);
const area = options.get("--area");
if (areasOf({ campaign, area }).length === 0) {
  const names = campaigns[campaign]!.map(({ name }) => name).join(", ");
  fail(`Cannot run a campaign: --area must be one of ${names}, got ${area}`);
}
const results =
  options.get("--results") ??
  join("node_modules/.cache/campaign", `${campaign}${area ? `-${area}` : ""}-${seed}.jsonl`);
mkdirSync(dirname(results), { recursive: true });

/** What an earlier process has done of this campaign; a line that it was writing is done again. */
function done(): Result[] {
  if (!existsSync(results)) return [];
  const text = readFileSync(results, "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Result);
}

const folder = mkdtempSync(join(tmpdir(), "arpo-lab-campaign-"));
const workerFile = fileURLToPath(new URL("worker.js", import.meta.url));
let worker: ChildProcess | undefined;

/** Ends the worker with all that it started. */
function end(): void {
  const { pid } = worker ?? {};
  worker = undefined;
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Has an attempt made, within its time. */
async function made(order: Order): Promise<Result> {
  const { area: of, attempt } = attemptOf(order);
  const child = (worker ??= fork(workerFile, {
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, TMPDIR: folder, NODE_OPTIONS: "" },
  }));
  let told = "";
  const hear = (data: Buffer) => (told = (told + data.toString()).slice(-2000));
  child.stderr!.on("data", hear);
  const { index } = order;
  const { name, promise } = attempt;
  const result = await new Promise<Result>((resolve) => {
    const ended = (verdict: "hung" | "died", happened: string) => {
      resolve({ index, area: of.name, name, promise, verdict, happened, ms: of.seconds * 1000 });
      end();
    };
    const timer = setTimeout(() => ended("hung", `no end in ${of.seconds} s`), of.seconds * 1000);
    const died = (code: number | null, signal: string | null) =>
      ended("died", `the process ended with ${code ?? signal}: ${told}`);
    child.once("exit", died);
    child.once("message", (message) => {
      child.off("exit", died);
      resolve(message as Result);
      clearTimeout(timer);
    });
    child.send(order);
  });
  child.stderr!.off("data", hear);
  return result;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    end();
    rmSync(folder, { recursive: true, force: true });
    process.exit(130);
  });
}

const all = done();
if (existsSync(results))
  writeFileSync(results, all.map((one) => `${JSON.stringify(one)}\n`).join(""));
const there = new Set(all.map(({ index }) => index));
const until = Date.now() + number("--minutes", 60) * 60_000;
console.log(`campaign ${campaign}, seed ${seed}: ${count} attempts, results in ${results}`);
const only = options.get("--only");
for (let index = 0; index < count && Date.now() < until; index++) {
  if (only === undefined ? there.has(index) : index !== Number(only)) continue;
  const result = await made({ campaign, area, seed, index, folder });
  all.push(result);
  if (only === undefined) appendFileSync(results, `${JSON.stringify(result)}\n`);
  const { verdict, name, happened } = result;
  if (verdict !== "kept" || only !== undefined) {
    console.log(`${index} ${result.area}: ${name}: ${verdict}: ${happened}`);
  }
}
end();
rmSync(folder, { recursive: true, force: true });
const { text, isWhole } = reportOf({ campaign, seed, count }, all);
console.log(text);
process.exit(isWhole ? 0 : 1);
