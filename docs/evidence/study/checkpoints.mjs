// The policies of the study, made once: `modelOf(cell, folder)` is the path of a cell's.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  advantages,
  demonstrate,
  fineTune,
  Policy,
  Random,
  rollout,
  score,
  tasks,
  taskTools,
  update,
  world,
} from "arpo-lab";
import { saveModel } from "arpo-lab/model";
import { offlineSearch, searchTool, ToolSet } from "arpo-lab/tools";
import { worldPages } from "arpo-lab/run";
import { createWorld } from "../../../dist/src/tasks/tasks/world.js";
import { generatedTokens } from "../../../dist/src/learn/measures/tree-metrics.js";
import { limits } from "./settings.mjs";

const shipped = "data/models/tiny";
const steps = { early: 4, late: 16 };
const trainingSeed = 7;

export async function keep(policy, folder) {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  await saveModel(policy.model, part);
  for (const file of ["tokenizer.json", "tokenizer_config.json"])
    copyFileSync(join(shipped, file), join(part, file));
  renameSync(part, folder);
}

/** GRPO without branches, from a model; `kept` has the folders it is kept in, by the number of steps. */
export async function grpo(family, from, kept) {
  const policy = await Policy.load(from);
  const tools = taskTools(world);
  const { train: set } = tasks[family]({
    seed: trainingSeed,
    train: family === "multihop" ? 88 : 256,
  });
  const seed = Random.from(trainingSeed);
  const order = seed.split("order");
  let tokens = 0;
  for (let step = 1; step <= steps.late; step++) {
    const from = (step - 1) * 8;
    const list = Array.from({ length: 8 }, (_, i) => {
      const epoch = Math.floor((from + i) / set.length);
      return order.split(epoch).shuffle(set)[(from + i) % set.length];
    });
    const trees = await rollout(policy, list, {
      ...{ n: 8, tools, ...limits },
      seed: 10_000 * trainingSeed + step,
    });
    tokens += generatedTokens(trees);
    await update(policy, advantages(await score(trees), { estimator: "grpo" }), {
      learningRate: 3e-4 * Math.min(1, tokens / 10_000),
      ...{ miniBatchSize: 16, reuseLogProbs: true, sharedPrefixes: true },
      shuffle: seed.split("rows").split(step),
    });
    if (kept[step]) await keep(policy, kept[step]);
  }
}

/** Where a policy's demonstrations err: results read so far; undefined: nowhere. */
const errors = { "errs-late": 1, "errs-early": 0, saturated: undefined };

/** Fine-tuned on demonstrations of other worlds that err where they are told to. */
async function tune(name, folder) {
  const policy = await Policy.load(shipped);
  const worlds = 12;
  const demonstrations = [];
  for (let w = 0; w < worlds; w++) {
    const other = createWorld(5000 + w);
    const search = searchTool({
      provider: offlineSearch({ pages: worldPages(other) }),
      maxResults: 3,
    });
    const tools = new ToolSet([search]);
    const set = tasks.multihop({ seed: w, train: 100, test: 1, world: other });
    for (const [i, task] of set.train.entries()) {
      const random = Random.from(3).split(w).split(i);
      let slips = 0;
      const expert = (asked, results) =>
        set.expert(asked, results, (right, wrong) => {
          const draw = random.split("slip").split(slips++);
          return results.length === errors[name] && draw.uniform() < 0.6 ? wrong(draw) : right;
        });
      const call = async (tag, input) => (await tools.call(tag, input)).text;
      demonstrations.push(await demonstrate(task, expert, call, { random }));
    }
  }
  await fineTune(policy, Random.from(1).shuffle(demonstrations), {
    ...{ learningRate: 3e-4, schedule: "constant", batchSize: 16, epochs: 1, sharedPrefixes: true },
  });
  await keep(policy, join(folder, `multihop-${name}`));
}

/** The folder of a cell's policy; trains it first where it is not there. */
export async function modelOf({ family, checkpoint, control, name }, folder) {
  if (checkpoint === "shipped") return shipped;
  const path = join(folder, name);
  if (!existsSync(path))
    await (control
      ? tune(checkpoint, folder)
      : grpo(
          family,
          shipped,
          Object.fromEntries(
            Object.entries(steps).map(([of, step]) => [step, join(folder, `${family}-${of}`)]),
          ),
        ));
  return path;
}

/** The folder of a policy of the recipe's first seed, after SFT or after the last step of ARPO. */
export function recipeModel({ checkpoint }, recipe) {
  if (!recipe)
    throw new SyntaxError(
      "Cannot gather evidence: recipe must be the folder of real-recipe.mjs, got none",
    );
  const run = resolve(recipe, "natural-1-1");
  const path = join(run, checkpoint);
  if (checkpoint === "sft") return path;
  const { sizes } = JSON.parse(readFileSync(join(run, "result.json"), "utf8"));
  return join(path, `global_step_${sizes.steps}`, "actor");
}
