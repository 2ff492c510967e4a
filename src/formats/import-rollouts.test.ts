import assert from "node:assert/strict";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { finished } from "node:stream/promises";
import { Random } from "../base/random/random.js";
import { Scored } from "../reward/scored.js";
import { rollout } from "../rollout/rollout.js";
import { saveTrees } from "../rollout/files/tree-files.js";
import type { RolloutTree } from "../rollout/rollout-tree.js";
import { randomTextPolicy } from "../rollout/testing/random-text-policy.js";
import { dumpAnswers } from "../run/trainer/train.js";
import { type ImportProgress, importRollouts } from "./import-rollouts.js";
import { readRollouts } from "./read-rollouts.js";

const folder = await mkdtemp(join(tmpdir(), "import-"));
after(() => rm(folder, { recursive: true }));

let files = 0;
async function fileOf(text: string, name = `${files++}.jsonl`): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  return path;
}

const line = (output: unknown, more: object = {}) =>
  JSON.stringify({ input: "ask", output, score: 1, step: 0, ...more });

test("importRollouts() gives back the trajectories of our own dump, whatever they say", async () => {
  const random = Random.from(8);
  const words = [
    "so",
    " <result>\n4\n</result>",
    "</think>",
    " \u2028",
    "🙂",
    "<calc>1</calc>",
    "\\n",
    '"',
    "  ",
  ];
  for (let i = 0; i < 20; i++) {
    const tasks = [0, 1].map((k) => ({ prompt: `${i}.${k}?`, answer: k }));
    const trees = await rollout(randomTextPolicy(), tasks, { n: 6, seed: i });
    for (const { nodes } of trees) {
      for (const node of nodes) {
        node.text = Array.from({ length: 1 + random.integer(5) }, () => random.choose(words)).join(
          "",
        );
      }
    }
    const again = trees.map((tree) => tree.selected);
    const rows = again.flat().map((trajectory, k) => ({
      trajectory,
      group: String(trajectory.tree),
      score: { score: k / 4, reason: `because ${k}`, parts: { format: k % 2 } },
    }));
    const place = join(folder, `dump-${i}`);
    await dumpAnswers(place, i, new Scored(rows, trees as unknown as RolloutTree[]));
    const imported = await importRollouts(place);
    assert.equal(imported.format, "verl");
    assert.deepEqual(
      imported.trees.map((tree) => [tree.prompt.text, ...tree.selected.map(({ text }) => text)]),
      trees.map((tree, k) => [tree.prompt.text, ...again[k]!.map(({ text }) => text)]),
    );
    assert.deepEqual(
      imported.scored!.trajectories.map(({ score }) => score),
      rows.map(({ score }) => score),
    );
  }
});

test("importRollouts() gives our own trees back, from both of their files", async () => {
  const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], {
    n: 3,
    seed: 2,
  });
  for (const kind of ["jsonl", "parquet"]) {
    const path = join(folder, `own.${kind}`);
    await saveTrees(path, trees);
    const imported = await importRollouts(path);
    assert.equal(imported.format, "arpo-lab");
    assert.deepEqual(
      imported.trees.map(({ nodes }) => nodes),
      trees.map(({ nodes }) => nodes),
    );
  }
});

test("importRollouts() passes over broken lines and names them, up to a limit", async () => {
  const good = line("fine");
  const path = await fileOf(
    [good, "{", line(5), "", "[1]", line("also"), '{"a":1}', line("e", { score: "x" })].join(
      "\r\n",
    ),
  );
  const imported = await importRollouts(path);
  assert.equal(imported.rows, 3);
  assert.deepEqual(
    imported.broken.map(({ line, reason }) => [line, reason]),
    [
      [2, 'a line must be JSON, got "{"'],
      [
        3,
        "a record must be one of verl's rollout_data_dir, got the fields input, output, score, step",
      ],
      [5, "a record must be an object, got a list"],
      [7, "a record must be one of verl's rollout_data_dir, got the fields a"],
    ],
  );
  assert.match(String(imported), /broken: .*, line 2: a line must be JSON/);
  await assert.rejects(
    importRollouts(path, { broken: 2 }),
    /^SyntaxError: Cannot import rollouts: at most 2 lines may be broken, got 3, the last in .*, line 5:/,
  );
});

test("importRollouts() refuses what is no rollout, and says what it found", async () => {
  const unknown = await fileOf('{"loss": 1}\n{"loss": 2}\n');
  await assert.rejects(
    importRollouts(unknown),
    /it must be one of arpo-lab, .*, got records with the fields loss$/,
  );
  await assert.rejects(importRollouts(await fileOf("")), /got no record$/);
  await assert.rejects(
    importRollouts(await fileOf("not json\n")),
    /got a line 1 of which a line must be JSON/,
  );
  await assert.rejects(
    importRollouts(await fileOf("PAR1 not a table", "x.parquet")),
    /Cannot import rollouts from .*x\.parquet: it must be a readable \.parquet file, got /,
  );
  await assert.rejects(
    importRollouts(join(folder, "nowhere")),
    /the path must be a file, a folder or a pattern that fits files, got .*nowhere/,
  );
  const empty = join(folder, "empty");
  await mkdir(empty);
  await assert.rejects(
    importRollouts(empty),
    /a folder must hold \.jsonl, \.json, \.parquet or \.eval files, got/,
  );
  await writeFile(join(empty, "data-00000-of-00001.arrow"), "ARROW1");
  await assert.rejects(importRollouts(empty), /write it with dataset\.to_parquet/);
  const good = await fileOf(line("x"));
  await assert.rejects(
    importRollouts(good, { format: "verk" }),
    /format must be one of .*, got "verk"/,
  );
  await assert.rejects(
    importRollouts(good, { rows: 0 }),
    /rows must be an integer of at least 1, got 0/,
  );
  await assert.rejects(
    importRollouts(good, { tokenizer: 5 as never }),
    /tokenizer must be a tokenizer, got 5/,
  );
});

const malformed: [name: string, record: object, reason: RegExp][] = [
  [
    "a graph whose parent comes later",
    { nodes: [{ parent: 4, message: { role: "user", content: "" } }] },
    /nodes\[0\]\.parent must be null or a node before it, got 4/,
  ],
  [
    "a mask of another length",
    {
      nodes: [
        { sampled: false, message: { role: "user", content: "x" }, token_ids: [1], mask: [false] },
        {
          parent: 0,
          sampled: true,
          message: { role: "assistant", content: "x" },
          token_ids: [1, 2],
          mask: [true],
        },
      ],
    },
    /mask must have an entry for each of 2 tokens, got 1/,
  ],
  [
    "token ids that are none",
    { token_ids: [1, -2], loss_mask: [0, 1] },
    /token_ids must be a list of token ids, got -2 in it/,
  ],
  [
    "log-probs of another number",
    { kind: "sample", prompt_tokens: [1], samples: [{ tokens: [1, 2], logprobs: [0] }] },
    /logprobs must have a number for each of 2 tokens, got 1/,
  ],
  [
    "a chat without an answer",
    { messages: [{ role: "user", content: "x" }] },
    /messages must have one of the assistant's, got none/,
  ],
  [
    "content of no kind",
    { messages: [{ role: "assistant", content: 5 }] },
    /content must be text or a list of parts, got 5/,
  ],
  [
    "a failed request",
    { request: { messages: [{ role: "user", content: "x" }] }, response: { error: 1 } },
    /response must have choices, content or output/,
  ],
  [
    "a completion of no kind",
    { prompt: "x", completion: 5, reward: 1 },
    /completion must be text, got 5/,
  ],
];
for (const [name, record, reason] of malformed) {
  test(`importRollouts() names ${name} with its line`, async () => {
    const path = await fileOf(`${JSON.stringify(record)}\n`);
    await assert.rejects(importRollouts(path, { broken: 0 }), (error: Error) => {
      assert.match(error.message, /^Cannot import rollouts: .*line 1: /);
      assert.match(error.message, reason);
      return true;
    });
  });
}

test("importRollouts() finds files by folder and by pattern, numbers by their value", async () => {
  for (const step of [2, 10, 1]) {
    await fileOf(`{"input":"ask","output":"${step}"}\n`, `steps/a/${step}.jsonl`);
  }
  await fileOf('{"x":1}', "steps/a/metrics.json");
  await fileOf(line("hidden"), "steps/.git/1.jsonl");
  const all = await importRollouts(join(folder, "steps"));
  assert.deepEqual(
    all.prompts.map(({ step }) => step),
    [1, 2, 10],
  );
  const names = async (pattern: string) =>
    (await importRollouts(join(folder, pattern))).files.map(({ path }) => path.split("/").at(-1));
  assert.deepEqual(await names("steps/**/*.jsonl"), ["1.jsonl", "2.jsonl", "10.jsonl"]);
  assert.deepEqual(await names("steps/a/{1,10}.jsonl"), ["1.jsonl", "10.jsonl"]);
  assert.deepEqual(await names("steps/?/?.jsonl"), ["1.jsonl", "2.jsonl"]);
});

test("importRollouts() streams: all trajectories are counted, few are kept, none of the text stays", async () => {
  const path = join(folder, "large.jsonl");
  const out = createWriteStream(path);
  const filler = "word ".repeat(20_000);
  const rows = 600; // 60 MB
  for (let i = 0; i < rows; i++) {
    const text = `{"input":"prompt ${i >> 2}","output":"${i} ${filler}","score":${i % 2},"step":1}\n`;
    if (!out.write(text)) await once(out, "drain");
  }
  out.end();
  await finished(out);
  const told: ImportProgress[] = [];
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const imported = await importRollouts(path, {
    rows: 8,
    onProgress: (progress) => told.push(progress),
  });
  globalThis.gc?.();
  const grown = process.memoryUsage().heapUsed - before;
  assert.deepEqual([imported.rows, imported.prompts.length, imported.left], [rows, 2, rows - 8]);
  assert.deepEqual(
    imported.prompts.map((prompt) => prompt.rows.length),
    [4, 4],
    "a prompt that is begun is kept whole",
  );
  assert.equal(imported.steps[0]!["critic/score/mean"], 0.5);
  if (globalThis.gc) assert.ok(grown < 10e6, `${grown} bytes stayed`);
  assert.ok(told.length > 0);
  assert.ok(told.every(({ bytes, of }) => bytes <= of));
  const small = await importRollouts(path, { characters: 250_000 });
  assert.equal(small.prompts.length, 1);
});

test("importRollouts() stops where it is told to", async () => {
  const path = await fileOf(Array.from({ length: 50 }, (_, i) => line(String(i))).join("\n"));
  await assert.rejects(
    importRollouts(path, { signal: AbortSignal.abort(new Error("enough")) }),
    /enough/,
  );
});

test("readRollouts() keeps prompts of different steps and groups apart", () => {
  const imported = readRollouts([
    { input: "a", output: "1", step: 1, uid: "x_0_0" },
    { input: "a", output: "2", step: 1, uid: "x_1_0" },
    { input: "a", output: "3", step: 1, uid: "y_0_0" },
    { input: "a", output: "4", step: 2, uid: "x_0_0" },
  ]);
  assert.deepEqual(
    imported.prompts.map(({ rows }) => rows.length),
    [2, 1, 1],
  );
  assert.throws(() => imported.tree(3), /its number must be one of 0 to 2, got 3/);
});

interface Traced {
  traces: { id: string; nodes: Record<string, number[] | boolean[] | number>[] }[];
}

test("prime-rl's annotations are laid onto its traces, in each of its layouts; the newest wins", async () => {
  const given = "tests/fixtures/rollouts/prime-rl/rollouts/step_7/train/all/traces.jsonl";
  const whole = await importRollouts(given);
  const episodes = (await readFile(given, "utf8"))
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as Traced);
  // What nodes say of their own tokens, as annotations of the whole branch say it; the records lose it.
  const updates = (name: "advantages" | "entropies", change = (value: number) => value) =>
    episodes.flatMap(({ traces }) =>
      traces.map(({ id, nodes }) => {
        const stream = nodes.flatMap((node) => {
          const own = [...((node[name] as number[] | undefined) ?? [])];
          return (node["mask"] as boolean[]).map((sampled) =>
            sampled ? change(own.shift()!) : null,
          );
        });
        const info = { train: { effective: true } };
        return { version: 1, trace_id: id, info, branches: [{ index: 0, [name]: stream }] };
      }),
    );
  const lines = (records: readonly object[]) =>
    records.map((record) => `${JSON.stringify(record)}\n`).join("");
  const old = updates("advantages", (value) => value + 9);
  const cut = updates("advantages").map((update) => ({
    ...update,
    branches: [{ index: 0, advantages: [1] }],
  }));
  const strange = { ...old[0], branches: [{ index: 7, advantages: [1] }, { index: "0" }, null] };
  const orchestrator = lines([...old, strange, ...updates("advantages"), ...cut]);
  const trainer = lines(updates("entropies"));
  for (const { traces } of episodes) {
    for (const { nodes } of traces) {
      for (const node of nodes) {
        delete node["advantages"];
        delete node["entropies"];
      }
    }
  }
  const layouts: [string, string, (producer: string) => string][] = [
    ["a", "traces/stream.jsonl", (producer) => `traces/annotations/${producer}.jsonl`],
    ["b", "traces/step_7/train/traces.jsonl", (p) => `traces/step_7/train/annotations/${p}.jsonl`],
    ["c", "file/traces/stream/00003.jsonl", (p) => `file/traces/annotations/${p}/00000.jsonl`],
  ];
  for (const [name, traces, annotations] of layouts) {
    const alone = await fileOf(lines(episodes), `prime-${name}/${traces}`);
    const bare = await importRollouts(alone);
    assert.match(String(bare), /advantages +not in the file/);
    await fileOf(orchestrator, `prime-${name}/${annotations("orchestrator")}`);
    await fileOf(trainer, `prime-${name}/${annotations("trainer")}`);
    for (const path of [join(folder, `prime-${name}`), ...(name === "c" ? [] : [alone])]) {
      const imported = await importRollouts(path);
      assert.deepEqual(imported.broken, []);
      assert.deepEqual(
        imported.prompts.map(({ step }) => step),
        whole.prompts.map(({ step }) => step),
      );
      for (const [i, tree] of imported.trees.entries()) {
        const row = tree.trajectories[0]!;
        const wanted = whole.trees[i]!.trajectories[0]!;
        assert.deepEqual(row.entropies, wanted.entropies);
        assert.deepEqual(
          imported.batchOf(i)!.trajectories.map(({ advantages }) => advantages),
          whole.batchOf(i)!.trajectories.map(({ advantages }) => advantages),
        );
      }
    }
  }
  await fileOf("(", "prime-c/file/traces/stream/00002.jsonl.zst");
  const sealed = await importRollouts(join(folder, "prime-c"));
  assert.match(sealed.broken[0]!.reason, /unpacked to be read: zstd -d/);
});
