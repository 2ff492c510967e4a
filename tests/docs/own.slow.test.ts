// docs/own.md, docs/rewards.md and docs/project.md, followed to the letter in an empty folder: its files are written, its commands run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-own-"));
after(() => rmSync(folder, { recursive: true }));

const page = ["own", "rewards", "project"]
  .map((name) => readFileSync(join(root, `docs/${name}.md`), "utf8"))
  .join("\n");
const blocks = [...page.matchAll(/^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm)].map(
  ([, language = "", name = "", text = ""]) => ({ language, name, text }),
);

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, `${args.join(" ")}\n${stdout}${stderr}`);
  return stdout + stderr;
}

test("docs/own.md: questions, reward, tool, configuration and commands do what it says", () => {
  for (const { name, text } of blocks) {
    if (name.includes(".")) writeFileSync(join(folder, name), text);
  }
  const commands = blocks
    .filter(({ language, name }) => language === "sh" && name === "tiny")
    .flatMap(({ text }) => text.trim().split("\n"));
  assert.equal(commands.length, 5);
  const said = commands.map((command) => {
    const [npx, program, ...args] = command.split(" ");
    assert.deepEqual([npx, program], ["npx", "arpo-lab"]);
    return run(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), ...args]);
  });
  const [doctor, first, , compared, tried] = said;
  assert.doesNotMatch(doctor!, /\bno-reward\b|\berror\b/);
  assert.match(first!, /val-core\/market\/reward\/mean@1[^]*done: 2 steps/);
  assert.doesNotMatch(first!, /going on without/);
  assert.match(compared!, /one.*\ntwo.*\n[^]*drawn: curves\.svg/);
  assert.match(tried!, /2 answers of/);
  // The tool that answered was ours, and the reward knew what it had seen.
  assert.match(readFileSync(join(folder, "runs/one/rollouts/1.jsonl"), "utf8"), /Page 1: The /);
});

test("docs/sft.md: its files fine-tune a model on chats", () => {
  const text = readFileSync(join(root, "docs/sft.md"), "utf8");
  for (const [, name = "", file = ""] of text.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)) {
    writeFileSync(join(folder, name), file);
  }
  const messages = [
    { role: "user", content: "What is 3+4?" },
    { role: "assistant", content: "<python>3+4</python>" },
    { role: "tool", content: "7" },
    { role: "assistant", content: "<answer>\\boxed{7}</answer>" },
  ];
  const line = `${JSON.stringify({ messages })}\n`;
  writeFileSync(join(folder, "chats.jsonl"), line.repeat(8));
  const said = run(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), "sft", "sft.yaml"]);
  assert.match(said, /8 examples, 1 steps[^]*done: \S+sft\nnext: board/);
});

test("docs/project.md: the program that looks at a run passes the compiler, and writes its pages", () => {
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(root, join(modules, "arpo-lab"));
  symlinkSync(join(root, "node_modules/@types"), join(modules, "@types"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const typescript = createRequire(import.meta.url).resolve("typescript/package.json");
  run(process.execPath, [join(typescript, "../bin/tsc"), "-p", "."]);
  const shown = blocks.find(({ language, name }) => language === "sh" && name === "look")!;
  assert.equal(shown.text, "npx arpo-lab run look.ts\n");
  for (const args of [
    ["out/look.js"],
    [join(root, "apps/cli/bin/arpo-lab.mjs"), "run", "look.ts"],
  ]) {
    for (const page of ["board.html", "tree.html"]) rmSync(join(folder, page), { force: true });
    run(process.execPath, args);
    assert.match(readFileSync(join(folder, "board.html"), "utf8"), /arpo-board/);
    assert.match(readFileSync(join(folder, "tree.html"), "utf8"), /arpo-explorer/);
  }
});
