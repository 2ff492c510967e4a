import { environment } from "#platform/process";
import { note, noteOutside } from "#platform/note";
import { type BackendName, decodeOn, ready, switchBackend } from "../../tensor/backends.js";
import { compiledEngine } from "../../tensor/engine/compiled-engine.js";
import type { FoundGpu } from "../../tensor/gpu/device.js";
import {
  findGpu,
  gpuIsPlausible,
  releaseWebgpu,
  webgpuDevice,
  webgpuIsInstalled,
} from "../../tensor/optional/webgpu.js";
import { tf } from "../../tensor/tf.js";
import type { ModelConfig } from "../config.js";
import type { DecoderType } from "../decoder/weights.js";
import { fastest, type Task, type Timing, verdict } from "./fastest.js";
import { measure, type Work } from "./measure.js";
import { allRemembered, machineKey, type Remembered, remember, shapeKey } from "./remembered.js";

/** What a choice depends on besides the model; tests put their own in its place. */
export interface Surroundings {
  /** What `ARPO_LAB_BACKEND` asks for. */
  asked: string | undefined;
  /** Whether tensors exist that a change of backend would leave behind. */
  bound: boolean;
  /** The backend that serves where nothing else is measured, and its instruction set. */
  engine: { backend: BackendName; on: string };
  /** The GPU that answers, asked for only where one is plausible. */
  findGpu(): Promise<FoundGpu | undefined>;
  measure(backend: BackendName, config: ModelConfig, work: Work): Promise<Pick<Timing, Task>>;
  remembered(): Promise<readonly Remembered[]>;
  remember(entry: Remembered): Promise<void>;
  say(text: string): void;
}

const everything: Work = { tasks: ["train", "decode"], dtype: "float32" };

/** What was chosen, and what it was chosen by: nothing where there was nothing to choose. */
interface Choice {
  train: BackendName;
  decode: BackendName;
  timings: readonly Timing[];
}

/**
 * Which backend a model of this shape trains on and which it decodes on: what was asked for, else what
 * is there, else, where there are several, the faster by a measurement that is remembered.
 */
export async function decide(
  config: ModelConfig,
  around: Surroundings,
  work: Work = everything,
): Promise<Choice> {
  const { backend, on } = around.engine;
  const alone: Choice = { train: backend, decode: backend, timings: [] };
  if (around.asked || around.bound) return alone;
  const machine = machineKey();
  const shape = shapeKey(config, work);
  const known = (await around.remembered()).find(
    (entry) => entry.machine === machine && entry.shape === shape,
  );
  let timings = known?.timings;
  if (!timings) {
    const gpu = await around.findGpu();
    if (!gpu || gpu.software) return alone;
    timings = [];
    for (const candidate of [
      { backend, on },
      { backend: "webgpu" as const, on: gpu.name },
    ]) {
      try {
        timings.push({ ...candidate, ...(await around.measure(candidate.backend, config, work)) });
      } catch (error) {
        const reason = (error as Error).message.split("\n")[0];
        around.say(`${candidate.backend} (${candidate.on}) is left out: ${reason}`);
        timings.push(candidate);
      }
    }
    await around.remember({ machine, shape, timings });
  }
  const when = known ? "measured before" : "measured now";
  const tasks = work.tasks.map((task) => verdict(timings, task));
  around.say(`this model ${tasks.join(" and ")}, ${when}; ARPO_LAB_BACKEND overrides`);
  return { train: fastest(timings, "train"), decode: fastest(timings, "decode"), timings };
}

/** This process, this machine. */
function here(): Surroundings {
  const inKernel = Symbol.for("arpo-lab.kernel.host") in globalThis;
  const backend = tf.getBackend() as BackendName;
  return {
    asked: environment["ARPO_LAB_BACKEND"],
    bound: decided || tf.memory().numTensors > 0,
    engine: { backend, on: compiledEngine()?.isa ?? "plain JavaScript" },
    async findGpu() {
      return gpuIsPlausible() && webgpuIsInstalled() ? findGpu() : undefined;
    },
    measure,
    remembered: allRemembered,
    remember,
    // Not into a cell's output: which backend serves is no result of the cell.
    say: (text) => (inKernel ? noteOutside : note)(`arpo-lab: ${text}`),
  };
}

let decided = false;

/**
 * Takes the faster backend for the first model that is loaded; later ones, whose tensors must meet the
 * first one's, stay with it. Where one backend exists, nothing is measured.
 */
export async function chooseBackend(config: ModelConfig): Promise<void> {
  await ready();
  const around = here();
  const choice = await decide(config, around);
  decided = true;
  if (choice.timings.length === 0) return;
  try {
    await switchBackend(choice.train);
    if (choice.decode === "webgpu") await webgpuDevice();
    else if (choice.train !== "webgpu") await releaseWebgpu();
    decodeOn(choice.decode);
  } catch (error) {
    await fallBack(around, error);
  }
}

/** What was remembered may be gone: a card taken out, a package removed. */
async function fallBack({ engine, say }: Surroundings, error: unknown): Promise<void> {
  const reason = (error as Error).message.split("\n")[0];
  say(`webgpu does not start, ${engine.backend} serves: ${reason}`);
  await releaseWebgpu().catch(() => undefined);
}

/**
 * The same for a model that will only decode, with its weights kept as `dtype`: tensors stay where they
 * are. Once a model decodes on a GPU, all later ones stay where the first one is.
 */
export async function chooseDecoder(config: ModelConfig, dtype: DecoderType): Promise<void> {
  await ready();
  const around = { ...here(), bound: decided };
  const { decode } = await decide(config, around, { tasks: ["decode"], dtype });
  if (decode !== "webgpu") return;
  try {
    await webgpuDevice();
    decodeOn("webgpu");
    decided = true;
  } catch (error) {
    await fallBack(around, error);
  }
}
