import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Check } from "../../../src/doctor/check.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const doctor = (args: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, ["apps/cli/bin/arpo-lab.mjs", "doctor", ...args], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });

test("arpo-lab doctor tells what the machine has, as a table and as JSON, and no key", () => {
  const { stdout, status } = doctor(["--json"], { OPENAI_API_KEY: "sk-secret" });
  const checks = JSON.parse(stdout) as Check[];
  const ids = new Set(checks.map(({ id }) => id));
  for (const id of ["node", "threads", "memory", "disk", "backend", "compiler", "gpu", "pyodide"]) {
    assert.ok(ids.has(id), id);
  }
  assert.equal(checks.find(({ id }) => id === "pyodide")!.status, "ok");
  // The backend it reports is the one that then computes.
  const { status: addon } = checks.find(({ id }) => id === "addon")!;
  const found = checks.find(({ id }) => id === "backend")!.found;
  if (addon === "ok" && !process.env["ARPO_LAB_BACKEND"]) assert.match(found, /^backend native/);
  assert.equal(status, checks.some((check) => check.status === "error") ? 1 : 0);
  assert.match(stdout, /OPENAI_API_KEY is set/);
  assert.ok(!stdout.includes("sk-secret"));
});

test("arpo-lab doctor says what a slow or impossible backend means", () => {
  const bad = doctor(["--preset", "grpo"], { ARPO_LAB_BACKEND: "quantum" });
  assert.equal(bad.status, 1);
  assert.match(bad.stdout + bad.stderr, /ARPO_LAB_BACKEND must be one of/);
  const told = doctor([], { ARPO_LAB_BACKEND: "quantum" });
  assert.match(
    told.stdout,
    /tensors +ERROR +Cannot choose a backend: ARPO_LAB_BACKEND must be one/,
  );
  const machine = doctor([], { ARPO_LAB_BACKEND: "cpu" });
  assert.match(machine.stdout, /slow +backend cpu: ARPO_LAB_BACKEND asks for it/);
});

test("arpo-lab doctor CONFIG diagnoses a run before it runs", () => {
  const fine = doctor(["actor_rollout_ref.rollout.n=16"]);
  assert.equal(fine.status, 0, fine.stdout + fine.stderr);
  assert.match(fine.stdout, /trajectories of 384 tokens fit into the model's 512/);
  const wrong = doctor(["--json", "actor_rollout_ref.rollout.n=1", "data.max_response_length=900"]);
  assert.equal(wrong.status, 1);
  const errors = (JSON.parse(wrong.stdout) as Check[]).filter(({ status }) => status === "error");
  assert.deepEqual(
    errors.map(({ id }) => id),
    ["context-too-short", "group-of-one"],
  );
});
