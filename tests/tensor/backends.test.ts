import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const tensors = join(root, "dist/src/api/model.js");
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

test("without ARPO_LAB_BACKEND the addon runs, or else wasm", () => {
  const { stdout } = run({ ARPO_LAB_BACKEND: "" });
  assert.equal(stdout, `2 ${existsSync(addon) ? "native" : "wasm"}\n`);
});

test("a backend that was merely found is not taken: neither a GPU nor TensorFlow", () => {
  const folder = mkdtempSync(join(tmpdir(), "arpo-found-"));
  try {
    // TensorFlow as it lies there when its binary was fetched, and Dawn on a machine with a GPU.
    const found = join(folder, "@tensorflow/tfjs-node-gpu");
    mkdirSync(join(found, "lib/napi-v8"), { recursive: true });
    writeFileSync(join(found, "lib/napi-v8/tfjs_binding.node"), "");
    writeFileSync(join(found, "package.json"), "{}");
    writeFileSync(join(found, "index.js"), 'console.log("TensorFlow was loaded");');
    const dawn = `data:text/javascript,console.log("Dawn was loaded")`;
    const hook = `export const resolve = (name, context, next) =>
      name === "webgpu" ? { url: ${JSON.stringify(dawn)}, shortCircuit: true } : next(name, context);`;
    const code = `
      import fs from "node:fs";
      import { register, syncBuiltinESMExports } from "node:module";
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});
      fs.readdirSync = () => ["nvidia0"];
      syncBuiltinESMExports();
      const { ready } = await import(${JSON.stringify(tensors)});
      console.log(await ready());`;
    const { stdout, stderr } = run({ ARPO_LAB_BACKEND: "", NODE_PATH: folder }, code);
    assert.equal(stdout, existsSync(addon) ? "native\n" : "wasm\n", stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const importing = (then: string) => `
  const tensors = await import(${JSON.stringify(tensors)});
  const { tf, ready } = tensors;
  console.log("imported");
  ${then}`;

test("an unknown backend name fails the first operation, in one line, and no import", () => {
  for (const use of ["tf.ones([2])", "tf.add(1, 2)", "tf.tensor(1)", "await ready()"]) {
    const { stdout } = run(
      { ARPO_LAB_BACKEND: "quantum" },
      importing(`try { ${use} } catch (error) { console.log(String(error)); }`),
    );
    assert.equal(
      stdout,
      "imported\nRangeError: Cannot choose a backend: ARPO_LAB_BACKEND must be one of native, wasm, cpu, wasm-relaxed, webgpu, tensorflow, got quantum\n",
      use,
    );
  }
});

test("a backend that is not there is an error, not another backend", () => {
  const absent =
    "export const resolve = (name, context, next) => next(name === 'webgpu' ? 'no-' + name : name, context)";
  const code = `(await import("node:module")).register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(absent)}`)});`;
  for (const [name, reason] of [
    ["tensorflow", /Cannot use the tensorflow backend: .* must be installed/],
    [
      "webgpu",
      /Cannot use the webgpu backend: the package webgpu must be installed \(`npm install webgpu`\)/,
    ],
  ] as const) {
    const { stdout } = run(
      { ARPO_LAB_BACKEND: name },
      code + importing("try { await ready(); } catch (error) { console.log(String(error)); }"),
    );
    assert.match(stdout, /^imported\n/);
    assert.match(stdout, reason);
    assert.notEqual(run({ ARPO_LAB_BACKEND: name }, code + probe).status, 0);
  }
});

test(
  "ARPO_LAB_ISA narrows the addon's instruction set",
  { skip: process.arch !== "x64" && "only an x64 processor has these instructions" },
  (t) => {
    if (!existsSync(addon)) return t.skip("no addon here");
    const { stderr } = run({ ARPO_LAB_BACKEND: "native", ARPO_LAB_ISA: "sse2" });
    assert.match(stderr, /native \(sse2/);
  },
);

test("a failed native build says so in one line and is no error", () => {
  const folder = mkdtempSync(join(tmpdir(), "arpo-build-"));
  try {
    for (const part of [
      ...["native/src", "native/addon"],
      ...["tools/native/build-native.mjs", "tools/native/native-jobs.mjs"],
    ]) {
      cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const build = (env: Record<string, string>) =>
      execFileSync(process.execPath, [join(folder, "tools/native/build-native.mjs")], {
        encoding: "utf8",
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
    const line = /^arpo-lab: no native engine \(.*\); the wasm engine is used instead\.\n$/;
    assert.match(build({ PATH: "" }), line);
    writeFileSync(join(folder, "native/src/matmul/gemm.cc"), "this is not C++\n");
    assert.match(build({ PATH: process.env.PATH ?? "" }), line);
    assert.ok(!existsSync(join(folder, "native/build/arpo.node")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a backend counts each tensor once", () => {
  const code = `
    const { tf } = await import(${JSON.stringify(tensors)});
    const before = tf.backend().numDataIds();
    const made = [tf.ones([2]), tf.tensor1d([1, 2]).mul(2), tf.tensor1d([1], "int32")];
    const after = tf.backend().numDataIds();
    tf.dispose(made);
    console.log(after - before, tf.backend().numDataIds() - before);`;
  for (const name of ["cpu", "wasm", ...(existsSync(addon) ? ["native"] : [])]) {
    // The tensor that was multiplied is there until it is disposed of.
    assert.equal(run({ ARPO_LAB_BACKEND: name }, code).stdout, "4 1\n", name);
  }
});
