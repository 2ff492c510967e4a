import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { addonName, findAddon } from "./native-engine.js";

test("what a clone compiled comes before what the package brought, and nothing is nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "addon-"));
  try {
    assert.equal(findAddon(folder), undefined);
    mkdirSync(join(folder, "prebuilt"));
    const brought = join(folder, `prebuilt/${addonName()}.node`);
    writeFileSync(join(folder, "prebuilt/plan9-mips.node"), "");
    assert.equal(findAddon(folder), undefined);
    writeFileSync(brought, "");
    assert.equal(findAddon(folder), brought);
    mkdirSync(join(folder, "build"));
    const compiled = join(folder, "build/arpo.node");
    writeFileSync(compiled, "");
    assert.equal(findAddon(folder), compiled);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("an addon is named by platform, processor and C library", () => {
  const name = (platform: string, arch: string, musl = false) =>
    addonName({ platform, arch, musl });
  assert.equal(name("darwin", "arm64"), "darwin-arm64");
  assert.equal(name("win32", "x64"), "win32-x64");
  assert.equal(name("linux", "x64", true), "linux-x64-musl");
  assert.ok(addonName().startsWith(`${process.platform}-${process.arch}`));
});
