// Fine-tunes a few steps with one checkpoint kept. A step is acknowledged once the next one has begun.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSftConfig } from "../../../src/run/sft/sft-config.js";
import { SftRun } from "../../../src/run/sft/sft-run.js";
import { temporaryFolder } from "../../temporary.js";
import { acknowledge, folder, given } from "./acknowledge.js";

const inputs = temporaryFolder("power-sft");
const rows = Array.from({ length: 8 }, (_, i) => ({
  conversations: [
    { from: "human", value: `What is ${i} + ${i}?` },
    { from: "gpt", value: `<answer>\\boxed{${2 * i}}</answer>` },
  ],
}));
mkdirSync(inputs, { recursive: true });
const put = (name: string, text: string) => writeFileSync(join(inputs, name), text);
put(
  "dataset_info.json",
  JSON.stringify({ toy: { file_name: "toy.jsonl", formatting: "sharegpt" } }),
);
put("toy.jsonl", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
put(
  "sft.yaml",
  JSON.stringify({
    ...{ model_name_or_path: "data/models/tiny", dataset_dir: inputs, dataset: "toy" },
    ...{ output_dir: join(folder, "run"), learning_rate: 0.01, per_device_train_batch_size: 4 },
    ...{ finetuning_type: "lora", lora_rank: 2, lora_target: "q_proj" },
    ...{ max_steps: 3, num_train_epochs: 10, save_steps: 1, save_total_limit: 1 },
  }),
);
const { config } = await loadSftConfig(join(inputs, "sft.yaml"), given);
const run = await SftRun.open(config);
console.log(JSON.stringify({ before: run.before }));
for await (const { step } of run) acknowledge(step);
run.dispose();
acknowledge(2);
