// The commands of docs/own.md, run small with the small model, which takes half a minute.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = join(root, "examples/own-task");
const linesOf = (name: string) =>
  readFileSync(join(example, `data/${name}.jsonl`), "utf8")
    .trim()
    .split("\n");

const home = mkdtempSync(join(tmpdir(), "arpo-lab-own-task-"));
after(() => rmSync(home, { recursive: true }));

const tiny = join(root, "data/models/tiny");
const small = ["trainer.total_training_steps=1", "data.train_batch_size=2"];
/** What makes a command of the page small, and puts the small model in place of SmolLM2. */
const smaller: Record<string, string[]> = {
  sft: [`model_name_or_path=${tiny}`, "max_steps=1", "max_samples=4", "cutoff_len=512"],
  doctor: ["data.max_prompt_length=400", ...small],
  train: [
    ...["data.max_prompt_length=400", "data.max_response_length=32", ...small],
    ...[
      "actor_rollout_ref.actor.ppo_mini_batch_size=2",
      "actor_rollout_ref.rollout.val_kwargs.n=1",
    ],
  ],
};

const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
const folder = join(home, "my-task");
const page = readFileSync(join(root, "docs/own.md"), "utf8");
const blocks = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = ""]) =>
  text.trim().split("\n"),
);

function run(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${args.join(" ")}\n${stdout}${stderr}`);
  return stdout + stderr;
}

test("docs/own.md: its commands run, and report every part", () => {
  cpSync(example, folder, { recursive: true });
  rmSync(join(folder, "data/demonstrations.json"), { force: true });
  const [, ...commands] = blocks[0]!;
  assert.equal(commands.length, 8);
  const said: Record<string, string> = {};
  for (const command of commands) {
    const [npx, program, ...words] = command.split(" ");
    assert.deepEqual([npx, program], ["npx", "arpo-lab"]);
    const [name = ""] = words;
    if (name === "fetch") continue; // 98 MB: the small model stands in
    said[words.slice(0, 2).join(" ")] = said[name] = run([...words, ...(smaller[name] ?? [])]);
  }
  assert.match(said["run demonstrations.ts"]!, /^40 demonstrations/);
  assert.match(said["sft"]!, /4 examples, 1 steps/);
  assert.match(said["doctor"]!, /tokenizer cuts \d\d% of the \d+ words[^]*fetch smollm2/);
  assert.match(said["train"]!, /done: 1 steps[^]*warning: the model's tokenizer cuts/);
  assert.match(
    said["run report.ts"]!,
    /\| arpo → grpo \| 60 held-out \|[^]*\| arpo → grpo \| 40 reworded \|/,
  );
  assert.match(readFileSync(join(folder, "curves.svg"), "utf8"), /<svg/);
});

test("docs/own.md: its sweep starts ARPO and GRPO of a seed from that seed's SFT", () => {
  assert.match(blocks[1]![1]!, /sweep sweep\.yaml$/);
  const sweep = readFileSync(join(folder, "sweep.yaml"), "utf8");
  const lines = smaller["train"]!.map((override) => `  - ${override}\n`).join("");
  writeFileSync(join(folder, "sweep.yaml"), sweep.replace(/(?<=^overrides:\n)/m, lines));
  // All questions were asked in the run before: a tenth shows as well where the two begin.
  for (const name of ["held-out", "reworded"]) {
    const few = linesOf(name).filter((_, i) => i % 10 === 0);
    writeFileSync(join(folder, `data/${name}.jsonl`), `${few.join("\n")}\n`);
  }
  cpSync(join(folder, "runs/sft"), join(folder, "runs/sft-1"), { recursive: true });
  run(["sweep", "sweep.yaml", "--seeds", "1"]);
  const report = run([
    ...["run", "report.ts", "arpo=runs/sweep/arpo/seed-1", "grpo=runs/sweep/grpo/seed-1"],
  ]);
  assert.match(report, /\| runs\/sweep\/grpo\/seed-1 \| 4 reworded \|/);
});
