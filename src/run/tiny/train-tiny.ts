import { mkdir, writeFile } from "#platform/files";
import { join } from "#platform/path";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Model } from "../../model/transformer/transformer.js";
import { saveModel } from "../../model/files/save-model.js";
import { SftTrainer, type SftStep } from "../../learn/sft/train.js";
import { exampleOf } from "../../learn/sft/encode.js";
import { worldDemonstrations, type WorldDemonstrations } from "./world-demonstrations.js";
import { tinyTokenizer } from "./tiny-tokenizer.js";

/** One span of the recipe. */
interface TinyStage {
  name: string;
  demonstrations: WorldDemonstrations;
  learningRate: number;
  schedule: "constant" | "cosine" | "linear";
  warmupRatio?: number;
}

interface TinyRecipe {
  seed: number;
  batchSize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  kvHeads: number;
  intermediateSize: number;
  contextLength: number;
  stages: TinyStage[];
}

/**
 * How the model in `data/models/tiny` was made: clean demonstrations over many worlds until it copies
 * and computes reliably, then corrupted ones, so that its greedy answers stay right while its samples
 * err, and reinforcement learning has something to fix.
 */
export const tinyRecipe: TinyRecipe = {
  seed: 1,
  batchSize: 16,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  intermediateSize: 384,
  contextLength: 512,
  stages: [
    {
      name: "clean",
      demonstrations: {
        seed: 1,
        worlds: 48,
        counts: { calc: 12000, lookup: 14000, multihop: 8000, mixed: 14000 },
      },
      learningRate: 3e-3,
      schedule: "cosine",
      warmupRatio: 0.03,
    },
    {
      name: "corrupted",
      demonstrations: {
        seed: 2,
        worlds: 16,
        counts: { calc: 1600, lookup: 2000, multihop: 1000, mixed: 2400 },
        corruption: { decisions: 0.25, format: 0.1 },
      },
      learningRate: 3e-4,
      schedule: "constant",
    },
  ],
};

/** Trains the tiny model by its recipe and writes it as a Hugging Face folder. */
export async function trainTiny(
  folder: string,
  recipe: TinyRecipe = tinyRecipe,
  onStep: (stage: string, step: SftStep) => void = () => undefined,
): Promise<Model> {
  const files = tinyTokenizer();
  const tokenizer = new HfTokenizer(files);
  const { seed, batchSize, stages, ...shape } = recipe;
  const model = Model.init(
    { ...shape, vocabSize: tokenizer.vocabSize, tied: true, eosIds: [...tokenizer.eosIds] },
    seed,
  );
  for (const stage of stages) {
    const demos = await worldDemonstrations(stage.demonstrations);
    const examples = demos.map((demonstration) => exampleOf(demonstration, tokenizer));
    const trainer = new SftTrainer(model, examples, {
      batchSize,
      seed,
      epochs: 1,
      learningRate: stage.learningRate,
      schedule: stage.schedule,
      warmupRatio: stage.warmupRatio ?? 0,
    });
    for await (const step of trainer) onStep(stage.name, step);
    trainer.dispose();
    await mkdir(folder, { recursive: true });
    await saveModel(model, folder);
    await tokenizer.save(folder);
    await writeFile(join(folder, "recipe.json"), `${JSON.stringify(recipe, null, 1)}\n`);
  }
  return model;
}
