// node docs/evidence/study/real-recipe.mjs MODEL OUT [key=value…]: the recipe of docs/evidence/real-curves, unattended: for each
// family and seed SFT on demonstrations, ARPO, what that gave on held-out questions, and a GGUF file of the
// agent. MODEL is a folder or a .gguf file. What OUT holds is not made again, so it can be stopped and started
// at will. `--write` takes what is finished to docs/evidence/real-curves and makes nothing.
//
//   families=natural,stories seeds=1,2,3 level=1        what is run
//   demonstrations=192 sftBatch=8 sftRate=2e-4          the fine-tuning
//   matmul=bfloat16                                     SFT and ARPO in mixed precision
//   steps=12 prompts=12 rows=8 length=768 held=96       ARPO, and how many questions judge it
//   actor_rollout_ref.actor.optim.lr=5e-6               any key of a configuration
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeTable } from "./real/write-table.mjs";

const [model, out, ...given] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if (!model || !out) {
  throw new SyntaxError("Cannot run the recipe: a model and a folder for the runs must be named");
}
const into = fileURLToPath(new URL("../real-curves", import.meta.url));
const numbers = {
  ...{ demonstrations: 192, sftBatch: 8, sftRate: 2e-4, level: 1 },
  ...{ steps: 12, prompts: 12, rows: 8, length: 768, held: 96 },
};
const lists = { families: "natural,stories", seeds: "1,2,3", matmul: "float32" };
const overrides = [];
for (const word of given) {
  const [, key, value] = /^(\w+)=(.*)$/.exec(word) ?? [];
  if (key in lists) lists[key] = value;
  else if (key in numbers) {
    numbers[key] = Number(value);
    if (Number.isFinite(numbers[key])) continue;
    throw new RangeError(`Cannot run the recipe: ${key} must be a number, got ${value}`);
  } else if (word.includes(".")) overrides.push(word);
  else {
    const known = [...Object.keys(lists), ...Object.keys(numbers)].join(", ");
    throw new RangeError(`Cannot run the recipe: settings must be ${known}, got ${word}`);
  }
}

if (!process.argv.includes("--write")) {
  const { oneSeed } = await import("./real/one-seed.mjs");
  const { level, ...sizes } = numbers;
  for (const seed of lists.seeds.split(",").map(Number)) {
    for (const family of lists.families.split(",")) {
      const name = `${family}-${level}-${seed}`;
      const folder = join(resolve(out), name);
      const done = join(folder, "result.json");
      if (existsSync(done)) continue;
      mkdirSync(folder, { recursive: true });
      const say = (text) => console.log(`${new Date().toISOString()} ${name}: ${text}`);
      const found = await oneSeed({
        ...{ model: resolve(model), family, level, seed, sizes, overrides, folder, say },
        matmul: lists.matmul,
      });
      writeFileSync(done, `${JSON.stringify(found)}\n`);
      const { before, sft, arpo } = found;
      say(`held-out reward ${[before, sft, arpo].map((m) => m.reward.toFixed(2)).join(" → ")}`);
    }
  }
}

const results = readdirSync(resolve(out))
  .map((name) => join(resolve(out), name, "result.json"))
  .filter((path) => existsSync(path))
  .map((path) => JSON.parse(readFileSync(path, "utf8")));
if (process.argv.includes("--write")) await writeTable(results, into);
