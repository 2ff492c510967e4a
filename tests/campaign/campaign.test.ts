import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary.js";
import { areaOf, type Area } from "./attempt.js";
import { campaigns } from "./areas.js";
import { reportOf } from "./report.js";
import { slopeOf } from "./soak.js";
import { attemptOf, type Result } from "./order.js";

const main = fileURLToPath(new URL("main.js", import.meta.url));
const campaign = (...args: string[]) =>
  spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
const read = (path: string) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Result);

test("a campaign of attacks keeps its results and resumes where it was stopped", () => {
  const results = join(temporaryFolder("campaign"), "results.jsonl");
  const args = ["attacks", "--area", "keys", "--seed", "4", "--results", results, "--count"];
  assert.equal(campaign(...args, "2").status, 0);
  const first = read(results);
  // A line that a killed process was writing.
  appendFileSync(results, '{"index":2,"ar');
  const second = campaign(...args, "4");
  assert.equal(second.status, 0, second.stdout + second.stderr);
  assert.match(second.stdout, /seed 4: 4 of 4 attempts, 0 promises broken/);
  const all = read(results);
  assert.deepEqual(all.slice(0, 2), first);
  assert.deepEqual(
    all.map(({ index }) => index),
    [0, 1, 2, 3],
  );
});

test("the same seed and number are the same attempt, another seed is another", () => {
  for (const [name, areas] of Object.entries(campaigns)) {
    const of = (seed: number, index: number) =>
      attemptOf({ campaign: name, seed, index, folder: "" });
    const round = areas.reduce((sum, { share }) => sum + share, 0);
    const seen = Array.from({ length: round }, (_, index) => of(3, index));
    assert.deepEqual([...new Set(seen.map(({ area }) => area.name))].length, areas.length);
    for (const [index, { area, attempt }] of seen.entries()) {
      assert.equal(of(3, index).attempt.name, attempt.name);
      assert.equal(of(4, index).area.name, area.name);
    }
    assert.ok(seen.some(({ attempt }, index) => of(4, index).attempt.name !== attempt.name));
  }
});

test("areas take turns by their shares", () => {
  const area = (name: string, share: number) => ({ name, share }) as Area;
  const areas = [area("a", 3), area("b", 1)];
  const names = Array.from({ length: 8 }, (_, i) => areaOf(areas, i).name).join("");
  assert.equal(names, "abaaabaa");
});

test("a report is whole only where every promise was kept", () => {
  const of = { campaign: "faults", seed: 1, count: 2 };
  const result = { index: 0, area: "a", name: "n", promise: "p", happened: "h", ms: 1 };
  const kept = { ...result, verdict: "kept" } as const;
  assert.ok(reportOf(of, [kept, { ...kept, verdict: "skipped" }]).isWhole);
  for (const verdict of ["lost", "silent", "hung", "died", "broken"] as const) {
    const { isWhole, text } = reportOf(of, [kept, { ...result, verdict }]);
    assert.ok(!isWhole);
    assert.match(text, new RegExp(`1 promises broken[^]*Promised: p. Found: ${verdict}: h`));
  }
});

test("a wrong campaign, area or option is refused", () => {
  for (const [args, said] of [
    [["fire"], /its name must be faults, attacks or soak, got fire/],
    [["attacks", "--area", "x"], /--area must be one of paths, .*, got x/],
    [["attacks", "--sed", "1"], /options are --seed, .* got --sed/],
    [["attacks", "--count", "many"], /got --count/],
  ] as const) {
    const { status, stderr } = campaign(...args);
    assert.equal(status, 2);
    assert.match(stderr, said);
  }
});

test("a slope has the interval of its noise", () => {
  const flat = Array.from({ length: 200 }, (_, i): [number, number] => [i / 100, 50 + (i % 3)]);
  const rising = flat.map(([x, y]): [number, number] => [x, y + 30 * x]);
  const [a, b] = [slopeOf(flat), slopeOf(rising)];
  assert.ok(Math.abs(a.slope) < a.half);
  assert.ok(Math.abs(b.slope - 30) < b.half && b.slope - b.half > 20);
});
