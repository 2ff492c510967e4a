import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const docs = join(root, "dist/docs");

before(() => {
  const made = spawnSync(process.execPath, [join(root, "scripts/docs.mjs")], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
});

const pages = () =>
  readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));

test("every link and picture of the documentation leads somewhere", () => {
  let count = 0;
  for (const name of pages()) {
    const path = join(docs, name);
    const text = readFileSync(path, "utf8");
    for (const [, address = ""] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(address)) continue;
      const [file = "", anchor] = address.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      assert.ok(existsSync(target), `${name} leads to ${address}`);
      if (anchor !== undefined && target.endsWith(".html"))
        assert.ok(readFileSync(target, "utf8").includes(`id="${anchor}"`), `${name}: ${address}`);
      count++;
    }
  }
  assert.ok(count > 300, `${count} links`);
});

test("every page of the documentation lets nothing run and nothing out", () => {
  assert.ok(pages().length > 20);
  for (const name of pages()) {
    const text = readFileSync(join(docs, name), "utf8");
    const head = text.slice(0, text.indexOf("<title>"));
    assert.match(head, /Content-Security-Policy" content="default-src 'none';/, name);
    assert.doesNotMatch(text, /<script|<iframe|<form|\son\w+=/i, name);
  }
});

test("the reference has what the package exports, with comments and examples", () => {
  const text = readFileSync(join(docs, "reference/arpo-lab.html"), "utf8");
  for (const name of ["rollout", "update", "advantages", "Policy", "explain"])
    assert.ok(text.includes(`<h3 id="${name}">`), name);
  assert.match(text, /Spreads scores over tokens/);
});

test("no page of the documentation asks the network", () => {
  for (const name of pages()) {
    const text = readFileSync(join(docs, name), "utf8");
    assert.doesNotMatch(text, /<script|(?:src|srcset)="https?:|@import|url\(/i, name);
  }
});
