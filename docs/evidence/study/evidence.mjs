// node docs/evidence/study/evidence.mjs a|real|b OUT [--write] [key=value]: gathers the evidence of docs/evidence in one process of one thread, into the
// folder OUT. What is there is not made again; stopped and started again it goes on. --write makes nothing: it
// takes what is there to docs/evidence.
//   a: every cell's policy, its branch values and what ARPO's entropy term decides. prompts=N measures fewer of each cell,
//      cell=WORD those cells alone.
//   real: the same of SmolLM2; recipe=FOLDER is where real-recipe.mjs has made natural-1-1.
//   b: trains every arm, seed by seed, but those that docs/evidence/data has. until=HH:MM stops behind the steps under way, processes=N trains several at a
//      time; smaller: blocks=N, seeds=N of each, only=FAMILY, "arms=NAME;NAME", tokens=N.
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

// Before an engine is loaded: one thread, so that figures do not depend on the machine.
process.env.ARPO_LAB_THREADS ??= "1";
const [part, out, ...rest] = process.argv.slice(2);
if (!["a", "real", "b"].includes(part) || !out || out.startsWith("-"))
  throw new SyntaxError(
    `Cannot gather evidence: the part must be a, real or b, then the folder of the measurements, got ${[part, out].join(" ")}`,
  );
const folder = resolve(out);
const given = Object.fromEntries(rest.filter((a) => a.includes("=")).map((a) => a.split("=")));
if (given.recipe) given.recipe = resolve(given.recipe);
process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));
const settings = await import("./settings.mjs");
const { tasksSeed } = settings;
const study = part === "real" ? settings.real : settings.tiny;

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** The tasks of a cell and the tools that they ask for. */
async function tasksOf({ family, planned }) {
  const { tasks, taskTools, world } = await import("arpo-lab");
  const seed = tasksSeed;
  if (part === "real") {
    const { naturalTasks } = await import("../../../dist/src/tasks/natural/index.js");
    const set = naturalTasks[family]({ seed, train: planned, test: 1 });
    return { train: set.train, tools: taskTools(set) };
  }
  const sizes = family === "multihop" ? { train: 120, test: 0 } : { train: 200 };
  return { train: tasks[family]({ seed, ...sizes }).train, tools: taskTools(world) };
}

async function measure() {
  const { Policy, rollout } = await import("arpo-lab");
  const { branchValues } = await import("arpo-lab/rollout");
  const { modelOf, recipeModel } = await import("./checkpoints.mjs");
  for (const name of ["models", "values", "decisions"])
    mkdirSync(join(folder, name), { recursive: true });
  const { measured, decisions } = study;
  const { responseLength, callLimit } = measured;
  const asked = study.cells.filter(({ name }) => name.includes(given.cell ?? ""));
  const most = Number(given.prompts ?? Infinity);
  // Half of every cell before the rest of any: a stop leaves something of each.
  for (const share of [0.5, 1]) {
    for (const cell of asked) {
      const { name, planned } = cell;
      const began = cpu();
      const { train, tools } = await tasksOf(cell);
      const count = Math.min(most, Math.ceil(share * planned));
      const path =
        part === "real"
          ? recipeModel(cell, given.recipe)
          : await modelOf(cell, join(folder, "models"));
      const policy = await Policy.load(path);
      const values = await branchValues(policy, train.slice(0, count), {
        ...{ ...measured, tools },
        into: join(folder, "values", `${name}.jsonl`),
      });
      const file = join(folder, "decisions", `${name}.jsonl`);
      if (!existsSync(file)) {
        const trees = await rollout(policy, train.slice(0, Math.min(count, decisions.prompts)), {
          ...{ preset: "arpo", tools, responseLength, callLimit },
          seed: decisions.seed,
        });
        const lines = trees.map((tree) => {
          const { attempts } = tree.replay({ weight: 0 });
          const made = tree.nodes.flatMap(({ branch = [] }) => branch);
          const was = new Map(
            made.map((a) => [`${a.trajectory} ${a.round} ${a.attempt}`, a.branch]),
          );
          const changed = attempts.filter(
            (a) => was.has(`${a.trajectory} ${a.round} ${a.attempt}`) && a.branch !== a.was,
          );
          return JSON.stringify({
            task: tree.task.id,
            attempts: made.length,
            changed: changed.length,
          });
        });
        appendFileSync(file, lines.join("\n") + "\n");
      }
      await tools.dispose();
      policy.dispose();
      console.log(`${name}: ${values.prompts} prompts, ${(cpu() - began).toFixed(0)} CPU s`);
    }
  }
}

if (rest.includes("--write")) {
  const { writeEvidence, writeTraining } = await import("./write.mjs");
  await (part === "b" ? writeTraining(folder) : writeEvidence(folder, study));
} else if (part === "b") {
  const { train } = await import("./train.mjs");
  await train(folder, given);
} else {
  await measure();
  console.log(`${cpu().toFixed(0)} CPU s in all`);
}
process.exit(0);
