// One process of `bench real`: a step of ARPO with adapters on the folder named in argv, by the Trainer that
// `arpo-lab train` runs, and what its parts took; more words are keys of the configuration. Prints the shape of what was rolled out, so that a
// baseline can do as much.
import { Trainer } from "../../../src/run/trainer/trainer.js";
import { assemble } from "../../../src/run/trainer/assemble.js";
import { loadConfig } from "../../../src/run/config/load.js";
import { ready } from "../../../src/tensor/backends.js";
import { Recorder } from "../../../src/tensor/profile/recorder.js";

const [folder, rows, tokens, ...overrides] = process.argv.slice(2) as [string, ...string[]];
const backend = await ready();
let start = performance.now();
const seconds = () => {
  const now = performance.now();
  const passed = (now - start) / 1000;
  start = now;
  return passed;
};
const { config } = await loadConfig({
  preset: ["arpo"],
  overrides: [
    `actor_rollout_ref.model.path=${folder}`,
    "actor_rollout_ref.model.lora_rank=8",
    "actor_rollout_ref.model.lora_alpha=16",
    "actor_rollout_ref.model.target_modules=all-linear",
    "actor_rollout_ref.model.enable_gradient_checkpointing=true",
    `actor_rollout_ref.rollout.n=${rows}`,
    `actor_rollout_ref.rollout.initial_rollouts=${rows}`,
    "actor_rollout_ref.actor.ppo_mini_batch_size=1",
    "actor_rollout_ref.actor.optim.lr=1e-4",
    "data.train_files=tasks:calc?train=4",
    "data.val_files=tasks:calc?test=1",
    "data.train_batch_size=1",
    "data.max_prompt_length=512",
    `data.max_response_length=${tokens}`,
    "trainer.total_training_steps=2",
    ...overrides,
  ],
});
const parts = await assemble(config);
// Something to learn from: what random weights write is worth nothing.
const reward = ({ response }: { response: string }) =>
  ([...response].reduce((h, c) => (31 * h + c.charCodeAt(0)) % 97, 7) % 5) / 4;
const trainer = new Trainer({ ...parts, reward });
const load = seconds();
const before = process.cpuUsage();
const recorder = new Recorder(() => performance.now());
const { timing, trees, metrics, batch } = await trainer.next();
recorder.stop();
const { user, system } = process.cpuUsage(before);
await parts.tools.dispose();
const lengths = batch.trajectories.map(({ trajectory }) => trajectory.tokens.length);
const norm = metrics["actor/grad_norm"];
if (!(norm! > 0)) throw new RangeError(`Cannot measure: a step must change something, got a gradient of ${norm}`); // prettier-ignore
process.stdout.write(
  `${JSON.stringify({
    backend,
    load,
    prompt: batch.trajectories[0]!.trajectory.prompt.length,
    rows: lengths.length,
    response: Math.max(...lengths),
    trees: trees.length,
    generate: timing["timing_s/gen"],
    old: timing["timing_s/old_log_prob"],
    update: timing["timing_s/update_actor"],
    step: timing["timing_s/step"],
    operations: [...recorder.found.values()].reduce((sum, { operations }) => sum + operations, 0),
    processor: (user + system) / 1e6,
    megabytes: process.resourceUsage().maxRSS / 1024,
  })}\n`,
);
process.exit(0);
