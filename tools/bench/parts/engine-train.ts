// One process of `bench engine`: trains a model of the size and the matmul precision in argv on one batch, and prints the time of each
// step, its CPU time, what it has to do at least, and the memory.
import { ready } from "../../../src/tensor/backends.js";
import { Recorder } from "../../../src/tensor/profile/recorder.js";
import { engineSizes, type EngineSize } from "./engine-sizes.js";
import { trainStep } from "./train-step.js";

const size = process.argv[2] as EngineSize;
const backend = await ready();
const { step } = await trainStep(size, process.argv[3] === "bfloat16" ? "bfloat16" : "float32");
const first = await step();
const recorder = new Recorder(() => performance.now());
await step();
recorder.stop();
await step();
const times: number[] = [];
const cpuTimes: number[] = [];
let last = first;
for (let i = 0; i < engineSizes[size].repetitions; i++) {
  const start = performance.now();
  const before = process.cpuUsage();
  last = await step();
  const { user, system } = process.cpuUsage(before);
  times.push(performance.now() - start);
  cpuTimes.push((user + system) / 1000);
}
if (!(last < first)) throw new Error(`The loss must fall while training, went ${first} to ${last}`);
const megabytes = process.resourceUsage().maxRSS / 1024;
let operations = 0;
let optimizerBytes = 0;
for (const [name, work] of recorder.found) {
  operations += work.operations;
  if (name === "AdamW" || name === "SquareSum") optimizerBytes += work.bytes;
}
const work = { operations, optimizerBytes };
process.stdout.write(`${JSON.stringify({ backend, times, cpuTimes, work, megabytes })}\n`);
process.exit(0);
