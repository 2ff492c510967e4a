// What must hold of a folder that a power cut left: it loads and goes on, and nothing acknowledged is lost.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readNotebook } from "../../kernel/notebook/read.js";
import { SampleJournal } from "../../src/eval/infer/journal.js";
import { JobLedger } from "../../src/interop/job/job-ledger.js";
import { loadTrees } from "../../src/rollout/files/tree-files.js";
import { readSealed } from "../../src/model/files/sealed.js";
import { RunFolder, tuningLayout } from "../../src/run/folder/run-folder.js";
import { runBytes, smallParts } from "../../src/run/trainer/testing/small-run.js";
import { train } from "../../src/run/trainer/train.js";
import { temporaryFolder } from "../temporary.js";
import type { Survivor } from "./survivors.js";

const text = (path: string) => readFileSync(path, "utf8");
/** The last thing acknowledged, as a number; none acknowledged is 0. */
const last = ({ acknowledged }: Survivor): number => Number(acknowledged.at(-1) ?? 0);

/** Restores every survivor and checks it; a failure says which. */
export async function checkAll(
  found: readonly Survivor[],
  check: (folder: string, survivor: Survivor) => Promise<void> | void,
): Promise<void> {
  assert.ok(found.length > 0, "nothing was cut");
  for (const [i, survivor] of found.entries()) {
    const folder = join(temporaryFolder("survivor"), "left");
    survivor.restore(folder);
    try {
      await check(folder, survivor);
    } catch (error) {
      const { why, disk, acknowledged } = survivor;
      const said = JSON.stringify(acknowledged.at(-1))?.slice(0, 200);
      throw new Error(
        `survivor ${i} of ${found.length} (${why}; the disk ${disk}; ${said} acknowledged): ${(error as Error).message}`,
        { cause: error },
      );
    }
  }
}

/** Every so many of a list, and its last. */
export const someOf = <T>(all: readonly T[], step: number): T[] =>
  all.filter((_, i) => i % step === 0 || i === all.length - 1);

/** The run's figures, checkpoints and trees up to what was acknowledged. */
export async function checkTrained(folder: string, survivor: Survivor): Promise<void> {
  const done = last(survivor);
  if (survivor.acknowledged.length === 0) return;
  const run = await RunFolder.open(join(folder, "run"));
  const steps = (await run.metrics()).map(({ step }) => step);
  assert.deepEqual(
    steps.slice(0, done + 1),
    Array.from({ length: done + 1 }, (_, i) => i),
  );
  for (let step = 1; step <= done; step++) {
    const trees = await loadTrees(join(run.path, `rollouts/${step}.jsonl`));
    assert.equal(trees.length, 2);
  }
  const latest = (await run.latest()) ?? 0;
  assert.ok(latest >= done, `checkpoint ${latest}`);
  if (latest > 0) assert.ok(await readSealed(run.checkpointPath(latest), "state.json"));
}

/** Resumes the run and trains to its end, which has the bytes of a run that was not cut. */
export async function checkResumed(
  folder: string,
  survivor: Survivor,
  expected: Record<string, string>,
): Promise<void> {
  const first: number[] = [];
  const warnings: string[] = [];
  const parts = await smallParts(["trainer.max_actor_ckpt_to_keep=1", "trainer.save_freq=1"]);
  const path = join(folder, "run");
  await train(parts, {
    folder: path,
    onStep: ({ step }) => void first.push(step),
    warn: (message) => void warnings.push(message),
  });
  parts.policy.model.dispose();
  assert.ok((first[0] ?? 5) > last(survivor), `resumed at step ${first[0]}`);
  assert.deepEqual(await runBytes(path), expected);
  assert.deepEqual(
    warnings.filter((said) => /are gone|as it was saved|no JSON/.test(said)),
    [],
  );
  for (let step = 1; step <= 4; step++) await loadTrees(join(path, `rollouts/${step}.jsonl`));
}

/** A run's bytes where nothing was cut. */
export async function uncutRun(): Promise<Record<string, string>> {
  const folder = temporaryFolder("uncut");
  const parts = await smallParts(["trainer.max_actor_ckpt_to_keep=1", "trainer.save_freq=1"]);
  await train(parts, { folder });
  parts.policy.model.dispose();
  return runBytes(folder);
}

/** Fine-tuning's log and last checkpoint. */
export async function checkTuned(folder: string, survivor: Survivor): Promise<void> {
  if (survivor.acknowledged.length === 0) return;
  const run = await RunFolder.open(join(folder, "run"), tuningLayout);
  const done = last(survivor) + 1;
  const lines = await run.metrics();
  assert.ok(lines.length >= done, `${lines.length} lines`);
  const latest = (await run.latest()) ?? 0;
  assert.ok(latest >= done, `checkpoint ${latest}`);
  assert.ok(await readSealed(run.checkpointPath(latest), "trainer_state.json"));
  // The last word is that of the whole run, whose model stands in the folder itself.
  if (survivor.acknowledged.length < 4) return;
  for (const name of ["adapter_model.safetensors", "tokenizer.json", "merged/model.safetensors"]) {
    assert.ok(text(join(run.path, name)).length > 0, name);
  }
}

/** Samples that were told, and the report of an evaluation that has ended. */
export async function checkEvaluated(folder: string, survivor: Survivor): Promise<void> {
  const told = survivor.acknowledged.filter((what) => typeof what === "number").length;
  const results = join(folder, "results");
  if (told > 0) {
    const journal = await SampleJournal.open(join(results, "samples.jsonl"));
    await journal.close();
    assert.ok(journal.samples.size >= told, `${journal.samples.size} of ${told} samples`);
  }
  if (survivor.acknowledged.at(-1) !== "done") return;
  assert.match(text(join(results, "report.txt")), /toy/);
  assert.equal((JSON.parse(text(join(results, "toy/toy_output_2.json"))) as unknown[]).length, 3);
}

/** A sweep's list of runs is whole; a run that is done has its last checkpoint. */
export async function checkSwept(folder: string, survivor: Survivor): Promise<void> {
  const sweep = join(folder, "sweep");
  const isThere = existsSync(join(sweep, "sweep.json"));
  const kept = isThere
    ? (JSON.parse(text(join(sweep, "sweep.json"))) as Record<string, { state?: string }>)
    : {};
  for (const seed of survivor.acknowledged)
    assert.equal(kept[`one/seed-${String(seed)}`]?.state, "done");
  for (const [id, { state }] of Object.entries(kept)) {
    if (state !== "done") continue;
    const run = await RunFolder.open(join(sweep, id));
    assert.deepEqual(
      (await run.metrics()).map(({ step }) => step),
      [1, 2],
    );
    assert.ok(await readSealed(run.checkpointPath(2), "state.json"));
  }
}

/** What was saved is there; a change that was under way is done or not. */
export function checkContents(
  folder: string,
  survivor: Survivor,
  all: readonly Survivor[],
): Promise<void> {
  const files = new Map(
    [...survivor.files.keys()].map((name) => [
      name.replace(/\/$/, ""),
      name.endsWith("/") ? null : text(join(folder, name)),
    ]),
  );
  const before = (survivor.acknowledged.at(-1) ?? {}) as Record<string, string | null>;
  const next = all.find(({ acknowledged }) => acknowledged.length > survivor.acknowledged.length);
  const after = (next?.acknowledged.at(survivor.acknowledged.length) ?? before) as typeof before;
  for (const [name, was] of Object.entries(before)) {
    const now = files.get(name);
    const is = (value: string | null | undefined) => now === value;
    assert.ok(
      is(was) || is(after[name]),
      `${name} must be ${JSON.stringify(was)} or ${JSON.stringify(after[name])}, got ${JSON.stringify(now)}`,
    );
  }
  for (const name of files.keys()) {
    if (!/(^|\/)\.(?!ipynb_checkpoints)/.test(name))
      assert.ok(name in before || name in after, `${name} is gone`);
  }
  return Promise.resolve();
}

/** Notebook, list of jobs and cache as they were acknowledged. */
export async function checkLedgers(folder: string, { acknowledged }: Survivor): Promise<void> {
  const most = (what: string) =>
    Math.max(0, ...(acknowledged as Record<string, number>[]).map((one) => one[what] ?? 0));
  if (most("notebook") > 0) {
    const { notebook } = readNotebook(join(folder, "own.ipynb"));
    assert.ok(Number(notebook.metadata["n"]) >= most("notebook"));
  }
  const ledger = new JobLedger(join(folder, "jobs"));
  const jobs = await ledger.all();
  assert.ok(jobs.length >= most("job"), `${jobs.length} jobs`);
  for (const job of jobs) assert.match(String(await ledger.package(job.package)), /^package/);
  if (most("cached") === 0) return;
  const cached = JSON.parse(text(join(folder, "cache.json"))) as object;
  assert.ok(Object.keys(cached).length >= most("cached"));
}

/** Runs a program again on what is left, to its end: what it printed. */
function again(program: string, folder: string): string {
  const path = fileURLToPath(new URL(`work/${program}.js`, import.meta.url));
  const { status, stderr, stdout } = spawnSync(process.execPath, [path, folder], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** Fine-tuning resumes after the step that was told. */
export function checkTunedAgain(folder: string, { acknowledged }: Survivor): void {
  const { before } = JSON.parse(again("sft", folder).split("\n")[0]!) as { before: number };
  const told = acknowledged.length === 0 ? 0 : Number(acknowledged.at(-1)) + 1;
  assert.ok(before >= Math.min(3, told), `resumed after step ${before}, of ${told}`);
}

/** An evaluation asks for no sample again that was told. */
export function checkEvaluatedAgain(folder: string, { acknowledged }: Survivor): void {
  const { asked } = JSON.parse(again("eval", folder)) as { asked: number };
  const told = acknowledged.filter((what) => typeof what === "number").length;
  assert.ok(asked <= 6 - told, `${asked} asked, ${told} told`);
}

/** A sweep runs to its end. */
export const checkSweptAgain = (folder: string): void => void again("sweep", folder);
