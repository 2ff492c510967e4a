import { readFile } from "#platform/files";
import { processors } from "#platform/process";
import { join } from "#platform/path";
import { makeFolder, writeDurably } from "../../../common/files/durable.js";
import { cacheFolder } from "../../base/files/home-path.js";
import { gpuFiles } from "../../tensor/optional/webgpu.js";
import type { ModelConfig } from "../config.js";
import type { Timing } from "./fastest.js";
import type { Work } from "./measure.js";

/** To be raised when kernels change enough to measure again. */
const REVISION = 2;

/** What was measured for one shape of model on one machine. */
export interface Remembered {
  machine: string;
  shape: string;
  timings: Timing[];
}

/** This machine, as far as it decides which backend is fast. */
export function machineKey(): string {
  return `${processors()}; ${gpuFiles().join(" ")}; r${REVISION}`;
}

/** What of a model decides how long its steps take. */
export function shapeKey(config: ModelConfig, { tasks, dtype }: Work): string {
  const { vocabSize, hiddenSize, intermediateSize, layers, heads, kvHeads, headDim } = config;
  return `${layers} layers of ${hiddenSize} x ${intermediateSize}, ${heads}/${kvHeads} heads of ${headDim}, ${vocabSize} words${tasks.includes("train") ? "" : `, decoding alone in ${dtype}`}`;
}

const file = () => join(cacheFolder(), "backends.json");

/** Everything that was measured and is remembered; a file that is no such list counts as none. */
export async function allRemembered(): Promise<Remembered[]> {
  try {
    const read: unknown = JSON.parse(await readFile(file(), "utf8"));
    return Array.isArray(read) ? read.filter(isRemembered) : [];
  } catch {
    return []; // not there, or not readable: it is measured again
  }
}

function isRemembered(value: unknown): value is Remembered {
  const { machine, shape, timings } = (value ?? {}) as Partial<Remembered>;
  const whole = (timing: unknown) => typeof (timing as Timing | null)?.backend === "string";
  return (
    typeof machine === "string" &&
    typeof shape === "string" &&
    Array.isArray(timings) &&
    timings.length > 0 &&
    timings.every(whole)
  );
}

/** Adds what was measured, in place of what was remembered of the same shape and machine. */
export async function remember(entry: Remembered): Promise<void> {
  const others = (await allRemembered()).filter(
    ({ machine, shape }) => machine !== entry.machine || shape !== entry.shape,
  );
  try {
    await makeFolder(cacheFolder());
    await writeDurably(file(), `${JSON.stringify([...others, entry], undefined, 1)}\n`);
  } catch {
    // A cache that cannot be written costs a measurement at the next start, and nothing else.
  }
}
