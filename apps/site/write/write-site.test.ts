import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeSite } from "./write-site.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-site-"));
after(() => rmSync(folder, { recursive: true }));

test("a file where the site should be is refused, and stays", async () => {
  const out = join(folder, "notes.txt");
  writeFileSync(out, "mine");
  for (const given of [out, join(out, "below")]) {
    await assert.rejects(writeSite({ out: given }), /must be new, empty or a site, got a file/);
  }
  assert.deepEqual(readdirSync(folder), ["notes.txt"]);
});

test("a folder of somebody's is refused, and stays", async () => {
  await assert.rejects(writeSite({ out: folder }), /must be new, empty or a site, got a folder/);
  assert.deepEqual(readdirSync(folder), ["notes.txt"]);
});

test("notebooks must be a folder", async () => {
  const notebooks = join(folder, "notes.txt");
  const refused = writeSite({ out: join(folder, "site"), notebooks });
  await assert.rejects(refused, /--notebooks must be a folder, got .*notes\.txt/);
});
