import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { commitOf, versionLine } from "./version-line.js";

test("a package says the commit that it carries, and unknown where it carries none or something else", () => {
  const folder = temporaryFolder("arpo-version");
  assert.equal(commitOf(folder), "unknown");
  mkdirSync(join(folder, "dist"));
  const carry = (text: string) => writeFileSync(join(folder, "dist/commit.json"), text);
  carry(JSON.stringify({ commit: "0123456789ab" }));
  assert.equal(commitOf(folder), "0123456789ab");
  for (const wrong of ["{", "null", '{"commit":7}', '{"commit":"rm -rf /"}']) {
    carry(wrong);
    assert.equal(commitOf(folder), "unknown", wrong);
  }
});

test("a clone asks git for its commit, and says that files differ from it", () => {
  const folder = temporaryFolder("arpo-version");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();
  git("init", "-q");
  assert.equal(commitOf(folder), "unknown, git does not answer");
  writeFileSync(join(folder, "a"), "1");
  git("add", "a");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one");
  const commit = git("rev-parse", "--short=12", "HEAD");
  assert.equal(commitOf(folder), commit);
  writeFileSync(join(folder, "a"), "2");
  assert.equal(commitOf(folder), `${commit} with changes`);
});

test("arpo-lab --version is one line: version, engine and commit", async () => {
  assert.match(
    await versionLine(),
    /^\d+\.\d+\.\d+ \(engine (native [a-z0-9-]+ \S+|WebAssembly.*), commit .+\)$/,
  );
});
