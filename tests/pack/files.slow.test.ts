import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { findAddon } from "../../src/tensor/engine/native-engine.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const rules = pathToFileURL(`${root}tools/package/package-rules.mjs`).href;
const { faultsOf } = (await import(rules)) as {
  faultsOf: (paths: string[], options?: { complete?: boolean }) => string[];
};

const shapes = pathToFileURL(`${root}tools/native/addon-shape.mjs`).href;
const { addonShape } = (await import(shapes)) as {
  addonShape: (bytes: Buffer) => { kind: string; arch: string; open: string[]; given: string[] };
};
const addon = findAddon();

const packed = ((): string[] => {
  const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
  return (JSON.parse(json) as { files: { path: string }[] }[])[0]!.files.map(({ path }) => path);
})();

test("the package holds what is meant and nothing else", () => {
  assert.ok(packed.length > 1000, `${packed.length} files`);
  assert.deepEqual(faultsOf(packed, { complete: false }), []);
});

test("what had come into the package by accident is named", () => {
  const accidents = [
    "dist/vendor/typescript-6.0.3-v20.20.2-x64.v8",
    "dist/.tsbuildinfo",
    "native/build/arpo.node",
    "dist/vendor/tfjs-float64.mjs",
    "dist/src/view/testing/sample-tree.js",
    "kernel/display/testing/fake-host.ts",
    "dist/src/learn/update.test.js",
    "data/papermill/__pycache__/arpo_lab_papermill.cpython-311.pyc",
  ];
  const faults = faultsOf([...packed, ...accidents], { complete: false });
  for (const path of accidents)
    assert.equal(faults.filter((fault) => fault.startsWith(`${path} is in`)).length, 1, path);
  assert.equal(faults.length, accidents.length);
});

test("the shape of this machine's compiled addon is read", (t) => {
  if (!addon || process.platform !== "linux") return t.skip("no addon here");
  const shape = addonShape(readFileSync(addon));
  assert.equal(shape.kind, "linux");
  assert.equal(shape.arch, process.arch);
  assert.ok(shape.open.includes("napi_create_function"));
  assert.ok(shape.given.includes("napi_register_module_v1"));
  const cxx = shape.open.filter((name) => /^(_Z|__cxa_(guard|throw))/.test(name));
  assert.deepEqual(cxx, [], "no C++ library is asked for");
});

test("what is missing is named: a target of exports, a map's source, a page's link", () => {
  const without = (gone: RegExp): string[] =>
    faultsOf(
      packed.filter((path) => !gone.test(path)),
      { complete: false },
    );
  assert.match(without(/^dist\/src\/api\/view\.d\.ts$/)[0]!, /api\/view\.d\.ts is named by/);
  assert.match(
    without(/^src\/reward\/score-trees\.ts$/)[0]!,
    /score-trees\.js\.map is a map without/,
  );
  assert.match(without(/^docs\/own\.md$/)[0]!, /points to docs\/own\.md, which is not/);
  assert.ok(faultsOf(packed.filter((path) => !path.includes("prebuilt"))).length >= 7);
});

test("the README that is packed names its pictures by whole addresses, each a file of the package", async () => {
  const script = pathToFileURL(`${root}tools/package/readme-pictures.mjs`).href;
  const { withAddresses } = (await import(script)) as {
    withAddresses: (text: string, about: { name: string; version: string }) => string;
  };
  const readme = readFileSync(`${root}README.md`, "utf8");
  const made = withAddresses(readme, { name: "arpo-lab", version: "1.2.3" });
  const pictures = [...made.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, address]) => address!);
  assert.ok(pictures.length >= 4);
  for (const address of pictures) {
    const start = "https://unpkg.com/arpo-lab@1.2.3/";
    assert.ok(address.startsWith(start), address);
    assert.ok(packed.includes(address.slice(start.length)), address);
  }
  const stills = readme.replaceAll(".webp)", ".png)");
  assert.notEqual(stills, readme, "the README has a moving picture, which is not packed");
  assert.equal(made.replaceAll("https://unpkg.com/arpo-lab@1.2.3/", ""), stills);
  assert.ok(!packed.some((path) => /^docs\/images\/.*\.webp$/.test(path)));
});
