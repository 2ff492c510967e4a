import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const tensors = join(root, "dist/src/tensor/index.js");
const addon = join(root, "native/build/arpo.node");
const probe = `
  const { tf } = await import(${JSON.stringify(tensors)});
  console.log(tf.ones([2]).sum().dataSync()[0], tf.getBackend());`;

function run(environment: Record<string, string>, code = probe) {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
    env,
  });
}

test("ARPO_LAB_BACKEND chooses a backend, printed once in one line on standard error", () => {
  for (const name of ["cpu", "wasm", ...(existsSync(addon) ? ["native"] : [])]) {
    const { stdout, stderr } = run({ ARPO_LAB_BACKEND: name });
    assert.equal(stdout, `2 ${name}\n`);
    assert.match(stderr, new RegExp(`^arpo-lab: tensors on ${name} \\(.*\\)\n$`));
  }
});

test("without ARPO_LAB_BACKEND the best engine there is runs", () => {
  const { stdout } = run({ ARPO_LAB_BACKEND: "" });
  assert.match(stdout, existsSync(addon) ? /^2 (native|tensorflow)\n$/ : /^2 (wasm|tensorflow)\n$/);
});

test("an unknown backend name is refused with the names there are", () => {
  const { status, stderr } = run({ ARPO_LAB_BACKEND: "quantum" });
  assert.notEqual(status, 0);
  assert.match(
    stderr,
    /Cannot choose a backend: ARPO_LAB_BACKEND must be one of tensorflow, webgpu, native, wasm, cpu, got quantum/,
  );
});

test("a backend that is not there is an error, not another backend", () => {
  const code = `${probe}`.replace("tf.ones", "await tf.ready(); tf.ones");
  const { status } = run({ ARPO_LAB_BACKEND: "tensorflow" }, code);
  assert.notEqual(status, 0);
});

test("ARPO_LAB_ISA narrows the addon's instruction set", { skip: process.arch !== "x64" }, (t) => {
  if (!existsSync(addon)) return t.skip("no addon here");
  const { stderr } = run({ ARPO_LAB_BACKEND: "native", ARPO_LAB_ISA: "sse2" });
  assert.match(stderr, /native \(sse2/);
});

test("a failed native build says so in one line and is no error", () => {
  const folder = mkdtempSync(join(tmpdir(), "arpo-build-"));
  try {
    for (const part of ["native/src", "native/addon", "scripts/build-native.mjs"]) {
      cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const build = (env: Record<string, string>) =>
      execFileSync(process.execPath, [join(folder, "scripts/build-native.mjs")], {
        encoding: "utf8",
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
    const line = /^arpo-lab: no native engine \(.*\); the wasm engine is used instead\.\n$/;
    assert.match(build({ PATH: "" }), line);
    writeFileSync(join(folder, "native/src/gemm.cc"), "this is not C++\n");
    assert.match(build({ PATH: process.env.PATH ?? "" }), line);
    assert.ok(!existsSync(join(folder, "native/build/arpo.node")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
