import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { benchmarks } from "../../../src/eval/benchmarks/benchmarks.js";
import type { Sample } from "../../../src/eval/infer/sample.js";
import { Random } from "../../../src/base/random/random.js";
import { remount, smallDisk } from "../../../tests/small-disk.js";
import { root } from "../../../tests/cli/notebook-run.js";

const temporary = mkdtempSync(join(tmpdir(), "eval-command-"));
after(() => {
  rmSync(temporary, { recursive: true });
});
const tiny = join(root, "data/models/tiny");

/** `arpo-lab eval`; `kill` says when to end it without asking. */
async function evalCommand(args: string[], kill?: () => Promise<void>, verb = "eval") {
  const child = spawn(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), verb, ...args]);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.once("close", done));
  if (kill) {
    await Promise.race([kill(), ended]);
    child.kill("SIGKILL");
  }
  return { code: await ended, stdout, stderr };
}

const text = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");
function finished(folder: string): Sample[] {
  const path = join(folder, "samples.jsonl");
  if (!existsSync(path)) return [];
  const whole = readFileSync(path, "utf8");
  return whole
    .slice(0, whole.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Sample);
}
const withoutTimes = (json: string) =>
  (JSON.parse(json) as Sample[]).map((sample) => ({ ...sample, timing: undefined }));

test("arpo-lab eval, killed at random moments, ends with the report of one that was not", async () => {
  const [calm, killed] = ["calm", "killed"].map((name) => join(temporary, name)) as [
    string,
    string,
  ];
  const args = (out: string) => [tiny, "--samples", "2", "--seed", "3", "--out", out];
  const whole = await evalCommand(args(calm));
  assert.equal(whole.code, 0, whole.stderr);
  const total = benchmarks.standIns().length * 12 * 2;
  assert.equal(finished(calm).length, total);

  const random = Random.from(Date.now());
  const moments: number[] = [];
  for (let round = 0; round < 3; round++) {
    const before = finished(killed).length;
    const target = before + 1 + random.integer(Math.ceil((total - before) / 2));
    await evalCommand(args(killed), async () => {
      while (finished(killed).length < target) await pause(5);
      await pause(random.integer(40));
    });
    moments.push(finished(killed).length);
    // A kill in the middle of a line is rare; it must not matter.
    if (round === 1) appendFileSync(join(killed, "samples.jsonl"), '{"benchmark":"gaia-look');
  }
  const told = `killed with ${moments.join(", ")} samples finished`;
  const last = await evalCommand(args(killed));
  assert.equal(last.code, 0, last.stderr);
  const keys = finished(killed).map(
    ({ benchmark, turn, index }) => `${benchmark}/${turn}/${index}`,
  );
  assert.equal(keys.length, total, `${told}: a finished sample was made again`);
  assert.equal(new Set(keys).size, total);
  assert.equal(last.stdout, whole.stdout, told);
  for (const name of ["report.html", "report.txt", "evaluation.json"]) {
    assert.ok(text(killed, name) === text(calm, name), `${name}: ${told}`);
  }
  for (const name of benchmarks.standIns()) {
    for (const turn of [1, 2]) {
      const base = `${name}/${name}_output_${turn}`;
      assert.equal(
        text(killed, `${base}_metrics_overall.json`),
        text(calm, `${base}_metrics_overall.json`),
      );
      assert.deepEqual(
        withoutTimes(text(killed, `${base}.json`)),
        withoutTimes(text(calm, `${base}.json`)),
      );
    }
  }
  assert.match(whole.stdout, /^Synthetic stand-ins, not the benchmarks/);
  // The answers alone, read from their files, come to the same figures.
  const scored = await evalCommand([calm, "--out", join(temporary, "scored")], undefined, "score");
  assert.equal(scored.code, 0, scored.stderr);
  const figures = (stdout: string) => stdout.split("\n").slice(3).sort();
  assert.deepEqual(figures(scored.stdout), figures(whole.stdout));
  assert.match(text(calm, "report.html"), /^<!doctype html>\n<!-- Synthetic stand-ins, not the/);
  const scores = JSON.parse(
    text(calm, "aime24-lookalike/aime24-lookalike_output_1_metrics_overall.json"),
  ) as { math_equal: number };
  assert.ok(scores.math_equal > 0.2, `aime24-lookalike: ${scores.math_equal}`);
});

test("arpo-lab eval takes benchmarks of one's own, and says what it cannot do", async () => {
  const own = join(temporary, "own.yaml");
  const folder = join(temporary, "data");
  writeFileSync(own, "- { name: sums, task: math, question: q, folder: data, prompt: none }\n");
  const missing = await evalCommand([tiny, "sums", "--own", own, "--out", join(temporary, "x")]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /Cannot read sums: .*test\.jsonl must be there \(ENOENT\)/);
  mkdirSync(join(folder, "sums"), { recursive: true });
  writeFileSync(join(folder, "sums/test.jsonl"), '{"q":"What is 40 + 80 * 6?","answer":"520"}\n');
  const done = await evalCommand([
    ...[tiny, "sums", "--own", own, "--out", join(temporary, "own")],
    ...["--temperature", "0", "--repetition-penalty", "1", "--limit", "python=2"],
  ]);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /^Evaluation of tiny\n[^]*\nsums +1 x 1 +100\.0 +math_equal/);
  assert.match(done.stderr, /no --tools, so there is Python and no search/);
  const typo = await evalCommand([tiny, "aime24-lookalik", "--out", join(temporary, "x")]);
  assert.match(typo.stderr, /did you mean aime24-lookalike\?/);
});

test("arpo-lab eval on a full disk says so, and continues to the same report once there is room", async (t) => {
  const disk = await smallDisk(t, 1);
  if (disk === undefined) return;
  const args = (out: string) => [tiny, "--samples", "2", "--seed", "3", "--out", out];
  const calm = join(temporary, "roomy");
  assert.equal((await evalCommand(args(calm))).code, 0);
  const folder = join(disk, "evaluation");
  const full = await evalCommand(args(folder));
  assert.equal(full.code, 1);
  assert.match(full.stderr, /Cannot (save a sample in|write) \S+: the disk is full \(ENOSPC\)/);
  remount(disk, "size=40m");
  const again = await evalCommand(args(folder));
  assert.equal(again.code, 0, again.stderr);
  for (const name of ["report.html", "report.txt"]) {
    assert.equal(text(folder, name), text(calm, name));
  }
});

test("two evaluations do not write the same folder", async () => {
  const folder = join(temporary, "two");
  const args = [tiny, "aime24-lookalike", "--samples", "200", "--out", folder];
  let refused: Awaited<ReturnType<typeof evalCommand>> | undefined;
  // The first one is ended as soon as the second has been refused.
  await evalCommand(args, async () => {
    while (finished(folder).length === 0) await pause(5);
    refused = await evalCommand(args);
  });
  assert.equal(refused?.code, 1);
  assert.match(refused.stderr, /one process may write it, got two; process \d+/);
});
