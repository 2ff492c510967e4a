// The card kit, packed, unpacked in an empty folder and run with an empty environment on a software adapter.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Figure } from "../../tools/bench/figure.js";
import type { Check } from "../../tools/bench/kit/checks.js";
import { temporaryFolder } from "../temporary.js";

interface Report {
  kit: { version: string };
  date: string;
  seconds: number;
  adapter: { name: string; software: boolean; features: string[]; driver: string };
  machine: { cores: number; node: string };
  passed: boolean;
  checks: Check[];
  figures: Figure[];
  notes: string[];
}

const script = fileURLToPath(new URL("../../../tools/card.mjs", import.meta.url));
const skip = process.platform !== "linux" || process.arch !== "x64" ? "only Linux x64" : false;
const folder = temporaryFolder("arpo-card");
const kit = join(folder, "arpo-lab-card-linux-x64");

function card(args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(join(kit, "card"), args, { cwd: folder, encoding: "utf8", env });
}

test("the kit is one file of at most 60 MB", { skip }, () => {
  const packed = spawnSync(process.execPath, [script, "--to", folder], { encoding: "utf8" });
  assert.equal(packed.status, 0, packed.stderr);
  assert.deepEqual(readdirSync(folder), ["arpo-lab-card-linux-x64.tar.gz"]);
  const file = join(folder, "arpo-lab-card-linux-x64.tar.gz");
  assert.ok(statSync(file).size < 60e6, `${statSync(file).size} bytes`);
  assert.equal(spawnSync("tar", ["-C", folder, "-xzf", file]).status, 0);
});

test("unpacked, it checks and measures a software adapter with nothing around it", { skip }, () => {
  const { status, stdout, stderr } = card(["--quick"]);
  assert.equal(status, 0, stderr);
  const report = JSON.parse(stdout) as Report;
  assert.equal(report.adapter.software, true);
  assert.match(stderr, /no card answers \(\/dev has no nvidia0/);
  assert.match(stderr, /SOFTWARE adapter/);
  assert.ok(report.passed && report.checks.length >= 6);
  assert.ok(report.checks.every((check) => check.passed));
  const names = report.figures.map(({ name }) => name);
  for (const task of ["limit.products", "limit.bandwidth", "matmul_f32", "matmul_f16_weights"]) {
    assert.ok(names.includes(`gpu.${task}`), task);
  }
  const tasks = ["train", "prompt", "decode1", "decode8", "decode64", "decode8_int8"];
  for (const task of tasks) {
    const figure = report.figures.find(({ name }) => name === `gpu.tiny.${task}`);
    assert.ok(figure && figure.value > 0, task);
    assert.ok(figure.share! > 0 && figure.share! < 1, `${task}: ${figure.share}`);
    assert.ok(figure.baseline === "native" && figure.baselineValue! > 0, task);
    assert.match(stderr, new RegExp(`^gpu\\.tiny\\.${task} .* share `, "m"));
  }
  assert.ok(report.machine.cores >= 1 && report.seconds > 0 && report.kit.version);
  assert.ok(report.notes.some((note) => note.includes("software adapter")));
});

test(
  "without any adapter it names what is missing, and wrong options are refused",
  { skip },
  () => {
    const none = card([], { VK_ICD_FILENAMES: "/nonexistent.json" });
    assert.equal(none.status, 1);
    assert.match(
      none.stderr,
      /Cannot measure a card: a GPU must answer.*GPU adapter must be found/,
    );
    assert.match(none.stderr, /\/dev has no nvidia0/);
    const wrong = card(["--sizes"]);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /the only option is --quick, got --sizes/);
  },
);

test("a kernel that computes something else is found", { skip }, () => {
  const shader = join(kit, "dist/src/tensor/gpu/wgsl/elementwise.js");
  const text = readFileSync(shader, "utf8");
  const damaged = text.replace("dup[i] = dout[i] * g * s;", "dup[i] = dout[i] * g * s * 1.01;");
  assert.notEqual(damaged, text);
  writeFileSync(shader, damaged);
  const { status, stdout, stderr } = card(["--quick"]);
  assert.equal(status, 1, stderr);
  const report = JSON.parse(stdout) as Report;
  assert.equal(report.passed, false);
  const failed = report.checks.filter(({ passed }) => !passed);
  assert.ok(failed.some(({ error }) => error?.includes("swiglu")), JSON.stringify(failed)); // prettier-ignore
});
