// docs/mcp.md, docs/verifiers.md, docs/structured-outputs.md and the section of docs/rollout.md on calls: their programs run as they stand.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = temporaryFolder("interop-pages");
for (const name of ["node_modules", "data"]) symlinkSync(join(root, name), join(folder, name));

/** The tiny model with Qwen's chat template, whose turns end with the model's own end token. */
function qwen(): string {
  const model = join(folder, "qwen");
  cpSync(join(root, "data/models/tiny"), model, { recursive: true });
  const change = (name: string, fields: object) => {
    const path = join(model, name);
    const before = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...before, ...fields }));
  };
  const template = readFileSync(join(root, "tests/fixtures/chat-templates/qwen2_5.jinja"), "utf8");
  change("tokenizer_config.json", { chat_template: template.replaceAll("<|im_end|>", "<|end|>") });
  change("config.json", { max_position_embeddings: 2048 }); // the tools are 600 of its tokens
  return model;
}

/** Runs the program of a page. */
async function run(page: string, name: string, env: Record<string, string> = {}): Promise<string> {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const code = text.split(`\`\`\`ts ${name}\n`)[1]?.split("\n```")[0];
  assert.ok(code, `${page} has ${name}`);
  writeFileSync(join(folder, name), code);
  const child = spawn(process.execPath, [join(root, "apps/cli/bin/arpo-lab.mjs"), "run", name], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (more) => (said += more));
  const [status] = (await once(child, "exit")) as [number];
  assert.equal(status, 0, said);
  return said;
}

test("docs/rollout.md: a model with Qwen's template gets its tools and calls natively", async () => {
  assert.match(await run("rollout.md", "native-calls.ts", { MODEL: qwen() }), /hermes true/);
});

test("docs/mcp.md: the tools of a real server are called", async () => {
  const said = await run("mcp.md", "mcp.ts");
  assert.match(said, /everything\S* \[ 'echo', 'get-sum' \]/);
  assert.match(said, /42[^]*^2$/m);
});

test("docs/verifiers.md: trees are written as traces", async () => {
  assert.match(await run("verifiers.md", "traces.ts"), /^4$/m);
});

test("docs/structured-outputs.md: an answer is JSON of its schema", async () => {
  const said = await run("structured-outputs.md", "structured.ts");
  assert.match(said, /^\{ unit: '[CF]', degrees: -?\d+ \}$/m);
});
