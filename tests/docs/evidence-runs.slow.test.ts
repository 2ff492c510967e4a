// The study's command measures, trains, resumes and gathers: run small, which takes a minute.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = new URL("../../../", import.meta.url);
const { gather } = (await import(new URL("docs/evidence/study/training-data.mjs", root).href)) as {
  gather: (folder: string) => string;
};

test("node docs/evidence/study/evidence.mjs b trains arms, repeats no run that is done, and gathers their figures", () => {
  const out = mkdtempSync(join(tmpdir(), "evidence-"));
  const run = () => {
    const script = fileURLToPath(new URL("docs/evidence/study/evidence.mjs", root));
    const small = ["blocks=1", "seeds=1", "only=multihop", "tokens=2000", "arms=coin;group-mixed"];
    return spawnSync(process.execPath, [script, "b", out, ...small], { encoding: "utf8" });
  };
  try {
    const made = run();
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /multihop seed 101: coin, group-mixed/);
    const lines = gather(out).trim().split("\n");
    assert.match(lines[0]!, /^family,arm,seed,step,tokens,calls,.*,held_out$/);
    assert.deepEqual(
      lines.slice(1).map((line) => line.split(",").slice(0, 4).join(" ")),
      ["multihop coin 101 1", "multihop group-mixed 101 1"],
    );
    for (const line of lines.slice(1)) {
      const [tokens, heldOut] = [line.split(",")[4], line.split(",").at(-1)].map(Number);
      assert.ok(tokens! > 2000 && tokens! < 3500, line);
      assert.ok(heldOut! > -1 && heldOut! < 1, line);
    }
    assert.equal(run().status, 0);
    assert.equal(gather(out), `${lines.join("\n")}\n`);
  } finally {
    rmSync(out, { recursive: true });
  }
});

test("node docs/evidence/study/evidence.mjs measures a cell, resumes where it stopped, and names what is wrong", () => {
  const out = mkdtempSync(join(tmpdir(), "evidence-"));
  const run = (...args: string[]) => {
    const script = fileURLToPath(new URL("docs/evidence/study/evidence.mjs", root));
    return spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  };
  try {
    const made = run("a", out, "cell=lookup-shipped", "prompts=2");
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /lookup-shipped: 2 prompts/);
    const path = join(out, "values/lookup-shipped.jsonl");
    const whole = readFileSync(path, "utf8");
    assert.equal(whole.trim().split("\n").length, 3);
    writeFileSync(path, whole.slice(0, -100)); // killed in the middle of a line
    assert.equal(run("a", out, "cell=lookup-shipped", "prompts=2").status, 0);
    assert.equal(readFileSync(path, "utf8"), whole);
    assert.match(
      run("c", out).stderr,
      /Cannot gather evidence: the part must be a, real or b, .*got c /,
    );
  } finally {
    rmSync(out, { recursive: true });
  }
});
