import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sharedData } from "../../../tests/shared-data.js";
import { benchmarks } from "./benchmarks.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "benchmarks-"));
after(() => {
  rmSync(temporary, { recursive: true });
});

/** A benchmark's folder with these lines. */
function folderWith(name: string, ...lines: string[]): string {
  const folder = mkdtempSync(join(temporary, "data-"));
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "test.jsonl"), lines.join("\n"));
  return folder;
}

test("benchmarks hold the reference's fourteen and a synthetic stand-in for each", () => {
  const originals = benchmarks.names().slice(0, 14);
  assert.deepEqual(
    originals.join(" "),
    "aime24 aime25 math500 math gsm8k hotpotqa 2wiki musique bamboogle webwalker gaia hle SimpleQA xbench",
  );
  assert.deepEqual(
    benchmarks.standIns(),
    originals.map((name) => `${name}-lookalike`),
  );
});

test("benchmarks.load() reads each layout by its keys", async () => {
  const load = async (name: string, line: string) => {
    const { items } = await benchmarks.load(name, { folder: folderWith(name, line, "") });
    return [items.length, items[0]!.question, items[0]!.answer];
  };
  assert.deepEqual(await load("aime24", '{"problem":"no","question":"Q","answer":"204"}'), [
    1,
    "Q",
    "204",
  ]);
  assert.deepEqual(await load("aime25", '{"problem":"Q","answer":70,"id":"0"}'), [1, "Q", 70]);
  assert.deepEqual(await load("math", '{"problem":"Q","answer":"p - q"}'), [1, "Q", "p - q"]);
  assert.deepEqual(await load("gaia", '{"Question":"Q","answer":"41","Level":2}'), [1, "Q", "41"]);
  assert.deepEqual(await load("gsm8k", '{"question":"Q","answer":"so\\n#### -1,234"}'), [
    1,
    "Q",
    "-1234",
  ]);
  assert.deepEqual(await load("2wiki", '{"question":"Q","answer":["a","b"]}'), [
    1,
    "Q",
    ["a", "b"],
  ]);
});

test("benchmarks.load() says which line breaks which rule", async () => {
  const fails = (name: string, ...lines: string[]) =>
    benchmarks.load(name, { folder: folderWith(name, ...lines) });
  await assert.rejects(fails("math", '{"problem":"Q","answer":"1"}', '{"question":"Q"}'), {
    message: /test\.jsonl, line 2: problem must be a text, got undefined/,
  });
  await assert.rejects(
    fails("hle", '{"question":"Q","answer":[]}'),
    /line 1: answer must be a text/,
  );
  await assert.rejects(fails("gsm8k", '{"question":"Q","answer":"7"}'), /a number behind "#### "/);
  await assert.rejects(fails("hle", "{"), /Cannot read .*line 1: /);
  await assert.rejects(fails("hle", ""), /it must hold a question, got none/);
  await assert.rejects(benchmarks.load("hle"), /the folder with hle\/test\.jsonl must be given/);
  await assert.rejects(benchmarks.load("hle", { folder: temporary }), /must be there \(ENOENT\)/);
  await assert.rejects(benchmarks.load("aime42"), /did you mean aime24\?/);
});

test("benchmarks.register() takes new names only", async () => {
  const mine = { name: "mine", title: "Mine", task: "qa", question: "ask" } as const;
  benchmarks.register(mine);
  assert.throws(() => {
    benchmarks.register(mine);
  }, /the name must be new, got mine/);
  assert.throws(() => {
    benchmarks.register({ ...mine, name: "../up" });
  }, /Cannot register a benchmark/);
  const folder = folderWith("mine", '{"ask":"Who?","answer":"Me"}');
  assert.equal((await benchmarks.load("mine", { folder })).items[0]!.question, "Who?");
});

test("the included stand-ins are what their script makes", () => {
  const out = join(temporary, "made");
  execFileSync(process.execPath, [join(root, "tools/data/benchmarks.mjs"), out]);
  const shipped = join(root, "data/benchmarks");
  assert.deepEqual(readdirSync(out), readdirSync(shipped));
  assert.deepEqual(readdirSync(out).sort(), benchmarks.standIns().sort());
  for (const name of readdirSync(out)) {
    const file = join(name, "test.jsonl");
    assert.deepEqual(readFileSync(join(out, file)), readFileSync(join(shipped, file)), name);
  }
});

const real = sharedData("benchmarks");
test("benchmarks.load() reads the real files", { skip: real.missing }, async () => {
  const folder = real.path;
  const sizes = { aime24: 30, math500: 500, gsm8k: 1319, hotpotqa: 200, bamboogle: 125 };
  for (const [name, size] of Object.entries(sizes)) {
    const { items } = await benchmarks.load(name, { folder });
    assert.equal(items.length, size, name);
  }
  const { items } = await benchmarks.load("gsm8k", { folder });
  assert.equal(items[0]!.answer, "18");
});
