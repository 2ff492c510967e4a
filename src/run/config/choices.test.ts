import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { stringify } from "yaml";
import { advantageOptions, rolloutOptions } from "../trainer/options.js";
import { configKeys } from "./keys.js";
import { loadConfig } from "./load.js";

// A definition in place of a name: `path.ts#name` from a file of a person's own.

const folder = await mkdtemp(join(tmpdir(), "arpo-lab-choices-"));
after(() => rm(folder, { recursive: true }));
await mkdir(join(folder, "beside"));
await writeFile(
  join(folder, "beside/mine.ts"),
  `
  const count = (value: number, says: string) => ({
    value, says, kind: { of: "count", least: 1 },
    rule: { must: "an integer of at least 1", holds: (v: unknown) => Number.isInteger(v) && (v as number) >= 1 },
  });
  export const halves = {
    name: "halves", title: "Halves", words: "in the middle",
    settings: { times: count(2, "How often each is left") },
    choose: () => [], why: () => "the middle",
  };
  export const gain = {
    name: "gain", meaning: "m", formula: "f", besides: {},
    settings: { bestOf: count(3, "How many count") },
    spans: (batch: unknown, told: object) => told,
  };
  export const other = 7;
  export default { name: "halves", settings: {}, choose: () => [] };
  `,
);
const mine = join(folder, "beside/mine.ts");

test("a rule of one's own is named by its file, has its keys, and is then known by its name", async () => {
  const rule = `lab.branch_rule=${mine}#halves`;
  await assert.rejects(
    loadConfig({ overrides: ["lab.branch_rule=halves"] }),
    /lab.branch_rule must be one of arpo-code,.* redraw, never, got "halves"/,
  );
  assert.ok(!configKeys().some(({ path }) => path === "lab.expand.times"));
  const { config } = await loadConfig({ overrides: [rule, "lab.expand.times=5"] });
  assert.equal(config.lab.branch_rule, `${mine}#halves`);
  const options = rolloutOptions(config) as { rule: { name: string }; expand: object };
  assert.deepEqual([options.rule.name, options.expand], ["halves", { times: 5 }]);
  const key = configKeys().find(({ path }) => path === "lab.expand.times");
  assert.equal(key?.description, "How often each is left");
  await assert.rejects(
    loadConfig({ overrides: [rule, "lab.expand.tims=5"] }),
    /every key must be known, got lab.expand.tims; did you mean lab.expand.times\?/,
  );
  await assert.rejects(
    loadConfig({ overrides: [rule, "lab.expand.times=0"] }),
    /lab.expand.times must be at least 1, got 0/,
  );
  await assert.rejects(
    loadConfig({ overrides: ["lab.branch_rule=halvs"] }),
    /must be one of .*redraw, halves, .*mine.ts#halves, never, got "halvs"/,
  );
  const again = await loadConfig({ overrides: ["lab.branch_rule=halves"] });
  assert.equal((rolloutOptions(again.config).rule as { name: string }).name, "halves");
});

test("a file's definition is beside it, and ${…} may name it; what is written loads again", async () => {
  const file = join(folder, "run.yaml");
  const env = { WHICH: "beside/mine.ts#gain" };
  await writeFile(
    file,
    stringify({
      algorithm: { adv_estimator: "${oc.env:WHICH}" },
      lab: { branch_rule: "./beside/mine.ts#halves" },
    }),
  );
  const { config } = await loadConfig({ files: [file], env });
  assert.equal(config.lab.branch_rule, `${mine}#halves`);
  assert.equal(config.algorithm.adv_estimator, `${mine}#gain`);
  await writeFile(join(folder, "config.yaml"), stringify(config));
  const resumed = await loadConfig({ files: [join(folder, "config.yaml")] });
  assert.deepEqual(resumed.config, config);
});

test("an estimator of one's own brings what the configuration tells it", async () => {
  const { config } = await loadConfig({
    overrides: [`algorithm.adv_estimator=${mine}#gain`, "lab.credit.gain.best_of=4"],
  });
  const { estimator, ...options } = advantageOptions(config);
  assert.ok(typeof estimator === "object" && estimator.name === "gain");
  assert.deepEqual((options as { gain?: object }).gain, { bestOf: 4 });
});

test("what is no definition is refused", async () => {
  const wrong = async (value: string, message: RegExp) =>
    assert.rejects(loadConfig({ overrides: [`lab.branch_rule=${value}`] }), message);
  await wrong(
    `${mine}#other`,
    /^TypeError: Cannot load a rule: .*mine.ts must export a rule other, got a number$/,
  );
  await wrong(`${mine}#gain`, /Cannot load a rule: .*mine.ts must export a rule gain, got a/);
  await wrong(`${mine}#none`, /must export a rule none, got .*gain, halves, other$/);
  await wrong(mine, /Cannot add a rule: its name must not be another's, got halves/);
  await wrong(
    `${folder}/nowhere.ts#a`,
    /Cannot load a rule: .*nowhere.ts must be a module that loads, got /,
  );
  const file = join(folder, "gone.yaml");
  await writeFile(file, "algorithm: { adv_estimator: ./gone.ts#gain }");
  await assert.rejects(
    loadConfig({ files: [file] }),
    /algorithm.adv_estimator: must be beside the configuration or in the working folder, got neither .*gone.ts nor /,
  );
});
