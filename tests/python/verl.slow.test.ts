// What is exported for verl, held against verl's own configuration and our golden cases: needs a Python
// with torch (the plug-in), and one with verl 0.9.1 and hydra (the keys); each says so where it is missing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Random } from "../../src/base/random/random.js";
import { exportVerl } from "../../src/interop/verl/export-verl.js";
import type { ConfigPreset } from "../../src/run/config/presets.js";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const root = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/, "");
const has = (code: string) => spawnSync(python, ["-c", code]).status === 0;

test(
  "the tree, AEPO's loss and the reward in Python give our golden cases",
  { skip: has("import torch") ? false : `${python} has no torch` },
  () => {
    const script = join(root, "tests/python/check_verl_plugin.py");
    const places: [seed: number, names: (string | number)[], place: number][] = [
      [0, [], 0],
      [7, ["sample", 3], 5],
      [2 ** 40 + 3, ["abcdefgh", ""], 2 ** 33],
      [5, ["branch", 12, 0, "abcdefghi"], 1],
    ];
    const draws = places.map(([seed, names, place]) => {
      const stream = names.reduce<Random>((all, name) => all.split(name), Random.from(seed));
      return [seed, names, place, stream.at(place)];
    });
    const args = [script, root, JSON.stringify(draws)];
    const { status, stdout, stderr } = spawnSync(python, args, { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const rollouts = { rollout_arpo: 16, rollout_aepo_static: 16, rollout_aepo_dynamic: 12 };
    assert.deepEqual(JSON.parse(stdout), { loss: 10, reward: 65, sums: 1, draws: 4, ...rollouts });
  },
);

const dying = `import { calculator } from "arpo-lab/tools";
import { setTimeout } from "node:timers/promises";

const evaluate = calculator().execute;

export default {
  name: "sums",
  async execute(input: string): Promise<string> {
    if (input === "id") return String(process.pid);
    if (input === "wait") return (await setTimeout(50), "waited");
    if (input.startsWith("long")) return input;
    if (input !== "die") return evaluate(input);
    process.stderr.write("last words\\n");
    process.exit(3);
  },
};
`;

test(
  "Node beside a worker is started again once, then named in an error, and is gone with its worker",
  { skip: has("import asyncio") ? false : `${python} is no Python` },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
    t.after(() => rm(folder, { recursive: true }));
    const [job, tool] = [join(folder, "job"), join(folder, "dying.ts")];
    await writeFile(tool, dying);
    const overrides = [
      ...["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"],
      `+actor_rollout_ref.rollout.tools.tool_instances.sum.class_path=${tool}`,
    ];
    await exportVerl({ preset: "grpo", overrides }, job, { package: root });
    const script = join(root, "tests/python/check_sidecar.py");
    const { status, stderr } = spawnSync(python, [script, root, job], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  },
);

const found = has("import hydra, importlib.util as u, sys; sys.exit(u.find_spec('verl') is None)");
test(
  "what is exported composes with verl 0.9.1's own configuration, with no unknown key",
  { skip: found ? false : `${python} has no verl and hydra` },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
    t.after(() => rm(folder, { recursive: true }));
    const data = ["data.train_files=tasks:calc?train=2", "data.val_files=tasks:calc?test=1"];
    const balanced = "actor_rollout_ref.actor.enable_entropy_balanced_clipping=true";
    const cases: [ConfigPreset[], string[]][] = [
      [["arpo", "tiny"], []],
      [["arpo", "7b"], [balanced]],
      [["aepo"], ["actor_rollout_ref.rollout.enable_dynamic_rollouts=true"]],
      [["grpo"], ["actor_rollout_ref.actor.checkpoint.contents=[model]", "ray_init.num_cpus=8"]],
    ];
    const folders: string[] = [];
    for (const [i, [preset, more]] of cases.entries()) {
      const to = join(folder, String(i));
      const tools = { python: "calculator", search: "mine:search" };
      await exportVerl({ preset, overrides: [...data, ...more] }, to, { tools });
      folders.push(to);
    }
    const script = join(root, "tests/python/check_verl_keys.py");
    const { status, stdout, stderr } = spawnSync(python, [script, ...folders], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, / vanilla\n.* aepo_clipping\n.* aepo\n.* vanilla\n/);
  },
);
