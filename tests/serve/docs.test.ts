// Every example of docs/serve.md, run against `arpo-lab serve` as the page starts it.
import assert from "node:assert/strict";
import { spawn, spawnSync, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "../until.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const page = readFileSync(join(root, "docs", "serve.md"), "utf8");
const blocks = (kind: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\``, "gms"))].map((m) => m[1]!);

const server = spawn(
  process.execPath,
  [join(root, "apps/cli/bin/arpo-lab.mjs"), "serve", "data/models/tiny", "--port", "0"],
  { cwd: root, stdio: ["ignore", "pipe", "pipe"] },
);
const run = promisify(execFile);
let said = "";
let address = "";
const here = (text: string) => text.replaceAll("http://127.0.0.1:8000", address);

before(async () => {
  server.stdout.on("data", (data: Buffer) => (said += data.toString()));
  server.stderr.on("data", (data: Buffer) => (said += data.toString()));
  await until(() => {
    assert.equal(server.exitCode, null, said);
    return said.includes("Ctrl-C stops it");
  }, "the server to say that it runs");
  address = /(http:\/\/127\.0\.0\.1:\d+)\/v1/.exec(said)![1]!;
});
after(() => {
  if (server.exitCode === null) server.kill("SIGKILL");
});

const noCurl = spawnSync("curl", ["--version"]).status !== 0 && "there is no curl";
test("docs/serve.md: the curl examples answer", { skip: noCurl }, async () => {
  const answers: string[] = [];
  for (const block of blocks("bash")) {
    const { stdout } = await run("sh", ["-c", here(block)], { encoding: "utf8" });
    answers.push(stdout);
  }
  const [models, completion, stream, echoed] = answers as [string, string, string, string];
  interface Answer {
    data: { id: string }[];
    choices: { text: string; logprobs: { tokens: string[] } }[];
  }
  const json = (text: string) => JSON.parse(text) as Answer;
  assert.equal(json(models).data[0]!.id, "tiny");
  assert.match(json(completion).choices[0]!.text, /^<think>/);
  assert.match(stream, /^data: \{.*\n\ndata: \[DONE\]\n\n$/s);
  assert.deepEqual(json(echoed).choices[0]!.logprobs.tokens, ["What", " is", " ", "12"]);
  assert.equal(answers.length, 4);
});

test("docs/serve.md: the JavaScript examples run", async () => {
  // Beside the compiled tests, so that packages are found.
  const folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), "docs-"));
  try {
    const answers = await Promise.all(
      blocks("js").map(async (block, i) => {
        const file = join(folder, `${i}.mjs`);
        writeFileSync(file, here(block));
        return (await run(process.execPath, [file], { cwd: root, encoding: "utf8" })).stdout;
      }),
    );
    const [chat, tools, policy] = answers as [string, string, string];
    assert.match(chat, /^<think>/);
    assert.match(tools, /<answer>\\boxed\{41\}<\/answer>/);
    assert.match(policy, /tiny at 127\.0\.0\.1:\d+ 512/);
    assert.equal(answers.length, 3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("arpo-lab serve ends cleanly on Ctrl-C", async () => {
  server.kill("SIGINT");
  const [code] = (await once(server, "exit")) as [number | null];
  assert.equal(code, 0, said);
  assert.match(said, /POST \/v1\/chat\/completions 200 \d+ ms/);
  assert.match(said, /Stopping on SIGINT/);
});
