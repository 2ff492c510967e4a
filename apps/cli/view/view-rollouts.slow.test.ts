import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sampleRunFolder } from "../../../src/view/testing/sample-run-folder.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const bin = join(root, "apps/cli/bin/arpo-lab.mjs");
const fixtures = join(root, "tests/fixtures/rollouts");
const folder = mkdtempSync(join(tmpdir(), "view-"));
after(() => rmSync(folder, { recursive: true }));

const view = (...args: string[]) =>
  promisify(execFile)(process.execPath, [bin, "view", ...args], { cwd: root });

test("arpo-lab view --out writes one page that asks nothing of the network", async () => {
  const out = join(folder, "page.html");
  const { stdout } = await view(`${fixtures}/verl`, "--out", out);
  assert.match(stdout, /^verl: 15 trajectories of 6 prompts in 3 files/);
  assert.match(stdout, /ground truth +gts \(0\.6 on\) \(10 of 15 trajectories\)/);
  const page = readFileSync(out, "utf8");
  assert.match(page, /^<!doctype html>/);
  assert.doesNotMatch(page, /(?:src|href)="http/);
});

test("arpo-lab view --policy fills in what the file does not carry", async () => {
  const out = join(folder, "filled.html");
  const { stdout } = await view(
    `${fixtures}/messages/chats.jsonl`,
    "--policy",
    "data/models/tiny",
    "--out",
    out,
  );
  assert.match(stdout, /entropies +filled in by scoring under tiny/);
});

test("arpo-lab view says what a wrong path must be, and ends with 1", async () => {
  await assert.rejects(
    view(join(folder, "nothing")),
    (error: { code?: number; stderr?: string }) => {
      assert.equal(error.code, 1);
      assert.match(error.stderr!, /the path must be a file, a folder or a pattern/);
      return true;
    },
  );
});

test("arpo-lab view serves on loopback until Ctrl-C", async (t) => {
  const child = spawn(process.execPath, [bin, "view", `${fixtures}/skyrl`, "--no-browser"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  const address = await new Promise<string>((found, failed) => {
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const match = /^http:\S+$/m.exec(text);
      if (match !== null && text.endsWith("\n")) found(match[0]);
    });
    void ended.then((code) => failed(new Error(`it ended with ${code}: ${text}`)));
  });
  assert.match(await (await fetch(address)).text(), /skyrl: 2 trajectories/i);
  child.kill("SIGINT");
  assert.equal(await ended, 0);
});

test("arpo-lab view RUN is the run's board, with a search over its rollouts below", async () => {
  const run = join(folder, "run");
  await sampleRunFolder(run);
  await writeFile(join(run, "config.yaml"), "{}\n");
  const out = join(folder, "run.html");
  await view(run, "--out", out);
  const page = readFileSync(out, "utf8");
  assert.equal(page.match(/class="arpo-view arpo-board/g)?.length, 1);
  assert.match(
    page,
    /<select data-choose="tool" disabled><option value="">all<\/option><option>python<\/option>/,
  );
  assert.match(page, /<select data-choose="step" disabled>.*<option value="4">4<\/option>/);
  assert.match(page, /data-choose="words"/);
  assert.equal(page.match(/<details data-prompt=/g)?.length, 4);
});
