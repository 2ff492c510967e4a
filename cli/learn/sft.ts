import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SftTrainer, encodeConversation, loadDataset, pack } from "../../src/learn/index.js";
import { loadSftConfig } from "../../src/run/index.js";
import { HfTokenizer, loadModel, saveModel } from "../../src/model/index.js";
import { Random } from "../../src/random/index.js";
import { ready } from "../../src/tensor/index.js";
import { interruptible } from "./assemble.js";

/** `arpo-lab sft`. */
export async function sftFromConfig(path: string, overrides: string[]): Promise<void> {
  const { config, kept } = await loadSftConfig(path, overrides);
  if (kept.length > 0) console.error(`without meaning here: ${kept.join(", ")}`);
  await ready();
  const folder = resolve(dirname(path), config.dataset_dir);
  const tokenizer = await HfTokenizer.load(config.model_name_or_path);
  const model = await loadModel(config.model_name_or_path);
  const { conversations, skipped } = await loadDataset(config.dataset, folder);
  for (const [reason, count] of Object.entries(skipped)) {
    console.error(`${count} rows skipped: ${reason}`);
  }
  const examples = conversations.slice(0, config.max_samples).map((conversation) =>
    encodeConversation(conversation, tokenizer, {
      cutoff: config.cutoff_len,
      maskResults: config.mask_results,
    }),
  );
  const shuffled = Random.from(config.seed).split("split").shuffle(examples);
  const held =
    config.val_size < 1 ? Math.floor(shuffled.length * config.val_size) : config.val_size;
  const evaluation = shuffled.slice(0, held);
  const train = shuffled.slice(held);
  const trainer = new SftTrainer(model, config.packing ? pack(train, config.cutoff_len) : train, {
    learningRate: config.learning_rate,
    batchSize: config.per_device_train_batch_size,
    accumulation: config.gradient_accumulation_steps,
    epochs: config.num_train_epochs,
    ...(config.max_steps > 0 ? { maxSteps: config.max_steps } : {}),
    schedule: config.lr_scheduler_type,
    warmupRatio: config.warmup_ratio,
    weightDecay: config.weight_decay,
    maxNorm: config.max_grad_norm,
    seed: config.seed,
    ...(evaluation.length > 0 ? { evaluation, evalEvery: config.eval_steps } : {}),
    signal: interruptible(),
  });
  await mkdir(config.output_dir, { recursive: true });
  const log: object[] = [];
  const save = async (to: string) => {
    await mkdir(to, { recursive: true });
    await saveModel(model, to);
    await tokenizer.save(to);
  };
  for await (const step of trainer) {
    log.push(step);
    const done = step.step + 1;
    if (done % config.logging_steps === 0 || step.evalLoss !== undefined) {
      const held = step.evalLoss === undefined ? "" : `  held out ${step.evalLoss.toFixed(4)}`;
      console.log(`${done}/${step.totalSteps}  loss ${step.loss.toFixed(4)}${held}`);
    }
    if (done % config.save_steps === 0) await save(join(config.output_dir, `checkpoint-${done}`));
  }
  await save(config.output_dir);
  const lines = log.map((line) => `${JSON.stringify(line)}\n`).join("");
  await writeFile(join(config.output_dir, "trainer_log.jsonl"), lines);
  console.log(`done: ${config.output_dir}`);
}
