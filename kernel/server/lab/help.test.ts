import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { LabServer } from "../lab-server.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-lab-help-"));
let server: LabServer;
const ask = (path: string, headers = { authorization: `token ${server.token}` }) =>
  fetch(new URL(path, server.url), { headers, redirect: "manual" });

before(async () => {
  writeFileSync(join(folder, "index.html"), "<h1>Documentation</h1>");
  server = await LabServer.start({ folder, docs: folder });
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

test("the help's pages are shown below /help/, and nothing in them may run", async () => {
  const first = await ask("/help");
  assert.equal(first.headers.get("location"), "/help/index.html");
  const page = await ask("/help/index.html");
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-type")!, /text\/html/);
  assert.match(page.headers.get("content-security-policy")!, /default-src 'none'/);
  assert.match(await page.text(), /Documentation/);
});

test("the help shows no other file, and nothing without the token", async () => {
  assert.equal((await ask("/help/none.html")).status, 404);
  assert.notEqual((await ask("/help/..%2f..%2fetc%2fpasswd")).status, 200);
  const stranger = await fetch(new URL("/help/index.html", server.url), { redirect: "manual" });
  assert.notEqual(stranger.status, 200);
});
