// Part B: trains every arm of every block, seed by seed, until all is done or the clock says so.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sweep } from "arpo-lab/run";
import { readTraining } from "./training-data.mjs";
import { blocks, families, folderOf, sharedOf } from "./training-settings.mjs";

/** Trees and checkpoints of a run that is done: 30 MB. Those of the first seed are kept. */
function prune(folder) {
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (/^(global_step_\d+|rollouts|validation|wandb|tool_calls\.jsonl)$/.test(name))
      rmSync(join(folder, name), { recursive: true });
}

/** A time of this day, `HH:MM`; an abort signal that comes then. */
function clock(until) {
  const enough = new AbortController();
  if (until === undefined) return enough.signal;
  const [hours, minutes] = until.split(":").map(Number);
  const left = new Date().setHours(hours, minutes, 0, 0) - Date.now();
  if (!Number.isFinite(left))
    throw new RangeError(`Cannot train: until must be HH:MM, got ${until}`);
  setTimeout(() => enough.abort(), Math.max(0, left)).unref();
  return enough.signal;
}

export async function train(out, given = {}) {
  const {
    until,
    seeds: most = "1000",
    blocks: first = "1000",
    only = "",
    processes = "1",
    tokens,
    arms: some,
  } = given;
  const signal = clock(until);
  const wanted = some?.split(";");
  const shorter = tokens === undefined ? [] : [`lab.budget.tokens=${tokens}`];
  mkdirSync(out, { recursive: true });
  const written = tokens === undefined ? readTraining("docs/evidence/data") : {};
  for (const { arms, seeds } of blocks.slice(0, Number(first))) {
    for (const seed of seeds.slice(0, Number(most))) {
      for (const family of families.filter((name) => name.includes(only))) {
        const named = Object.fromEntries(
          Object.entries(arms).flatMap(([arm, setting]) =>
            wanted?.includes(arm) === false || written[family]?.[arm].has(seed)
              ? []
              : [[folderOf(arm), setting]],
          ),
        );
        if (Object.keys(named).length === 0) continue;
        const runs = await sweep({
          ...{ folder: join(out, family), arms: named, seeds: [seed], signal, live: false },
          ...{
            preset: "tiny",
            overrides: [...sharedOf(family), ...shorter],
            processes: Number(processes),
          },
        }).catch((error) => {
          if (!signal.aborted) throw error;
        });
        if (!runs) return console.log(`stopped at ${until}: the same command resumes`);
        for (const { arm, error, log } of runs.failed)
          console.log(`${family} ${arm} seed ${seed} failed: ${error}; ${log}`);
        if (seed !== blocks[0].seeds[0]) Object.values(runs.folders).flat().forEach(prune);
        const time = new Date().toTimeString().slice(0, 5);
        console.log(`${time} ${family} seed ${seed}: ${Object.keys(named).join(", ")}`);
      }
    }
  }
}
