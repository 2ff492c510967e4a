// Trains a few steps with one checkpoint kept. A step is acknowledged once the next one has begun.
import { join } from "node:path";
import { train } from "../../../src/run/trainer/train.js";
import { smallParts } from "../../../src/run/trainer/testing/small-run.js";
import { acknowledge, folder, given } from "./acknowledge.js";

const parts = await smallParts([
  "trainer.max_actor_ckpt_to_keep=1",
  "trainer.save_freq=1",
  ...given,
]);
const { step } = await train(parts, {
  folder: join(folder, "run"),
  onStep: ({ step }) => acknowledge(step - 1),
});
acknowledge(step);
