import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { checkGoldenCases } from "./main.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("every golden case that the code covers passes", () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["tools/golden-cases.mjs", "tests/golden/cases", "--no-build"],
    { cwd: root, encoding: "utf8" },
  );
  assert.equal(status, 0, stdout + stderr);
});

/** What the command says of a folder, and its exit status. */
async function check(t: TestContext, folder?: string) {
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const mocks = [t.mock.method(console, "log", say), t.mock.method(console, "error", say)];
  const status = await checkGoldenCases(folder);
  for (const mock of mocks) mock.mock.restore();
  return { text: lines.join("\n"), status };
}

test("the golden-case command fails whenever something was not checked, and takes any folder of known kinds", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "golden-cases-"));
  const write = (name: string, file: unknown) => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), typeof file === "string" ? file : JSON.stringify(file));
  };
  const boxed = JSON.parse(
    readFileSync(join(root, "tests/golden/cases/boxed_extraction.json"), "utf8"),
  ) as { name: string; cases: { input: { text: string }; expected: unknown }[] };
  try {
    const bare = await check(t, folder);
    assert.match(bare.text, /0 passed, 0 failed\nNothing was checked/);
    assert.equal(bare.status, 1);
    assert.equal((await check(t)).status, 2);
    assert.equal((await check(t, join(folder, "none"))).status, 2);

    // One kind alone, under another file name, in a folder below, with cases that have names.
    const named = boxed.cases.map((one, i) => ({ id: `b${i}`, ...one }));
    write("more/other-cases.json", { ...boxed, cases: named });
    const alone = await check(t, folder);
    assert.equal(alone.status, 0, alone.text);
    assert.match(alone.text, /boxed_extraction \(more\/other-cases\.json\): 13\/13/);

    const wrong: [file: unknown, said: RegExp][] = [
      [{ name: "a_kind_of_tomorrow", cases: boxed.cases }, /a_kind_of_tomorrow .*NOT CHECKED/],
      [{ name: "toString", cases: boxed.cases }, /toString .*NOT CHECKED/],
      [{ ...boxed, cases: [] }, /NOT CHECKED\n {2}has no cases/],
      [[], /NOT CHECKED/],
      ["{", /is not JSON/],
      [{ ...boxed, cases: [{ input: { text: "" }, expected: {} }] }, /0\/1\n.*expects nothing/],
      [{ ...boxed, cases: [{ input: { text: "" }, expected: { new_field: 1 } }] }, /new_field/],
    ];
    for (const [file, said] of wrong) {
      write("wrong.json", file);
      const { text, status } = await check(t, folder);
      assert.equal(status, 1, text);
      assert.match(text, said);
      assert.match(text, /13\/13/);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the golden-case command reads tolerances and numbers that JSON cannot write", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "golden-cases-"));
  const status = async (file: object) => {
    writeFileSync(join(folder, "one.json"), JSON.stringify(file));
    return (await check(t, folder)).status;
  };
  const input = { logprobs: [[-0.5]], vocab_size: 10, max_positions: 20 };
  const off = 0.5 * Math.exp(-0.5) * (1 + 1e-6);
  const cases = [{ input, expected: { entropy_sum_nats: off } }];
  const name = "token_entropy";
  try {
    assert.equal(await status({ name, precision: "float64; rtol 1e-9, atol 1e-12", cases }), 1);
    assert.equal(await status({ name, precision: "float64; rtol 1e-5, atol 1e-12", cases }), 0);
    assert.equal(await status({ name, cases: [{ ...cases[0], rtol: 1e-5 }] }), 0);
    const stats = {
      input: { values: [[1, 3, "Infinity"]], mask: [[1, 1, 1]], shift_mean: true },
      expected: { mean: "Infinity", var: "NaN" },
    };
    assert.equal(await status({ name: "masked_stats", cases: [stats] }), 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
