import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { LabServer } from "../lab-server.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-lab-help-"));
const site = join(folder, "site");
const pages = join(folder, "pages");
let server: LabServer;
const ask = (path: string, headers = { authorization: `token ${server.token}` }) =>
  fetch(new URL(path, server.url), { headers, redirect: "manual" });

before(async () => {
  mkdirSync(pages);
  writeFileSync(
    join(pages, "README.md"),
    "# All pages\n\n[one](one.md#part) [code](../src/x.ts)\n\n![a dot](dot.png)",
  );
  writeFileSync(
    join(pages, "one.md"),
    "# One\n\n<script>alert(1)</script>\n\n[two](api-report.md)",
  );
  writeFileSync(join(pages, "api-report.md"), "# The API\n\n[one](one.md)");
  writeFileSync(join(pages, "dot.png"), Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
  server = await LabServer.start({ folder, docs: { site, pages } });
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

test("without the built site the help shows the Markdown pages, and nothing in them runs", async () => {
  assert.equal((await ask("/docs")).headers.get("location"), "/docs/index.html");
  const first = await ask("/docs/index.html");
  assert.equal(first.status, 200);
  assert.match(first.headers.get("content-security-policy")!, /default-src 'none'/);
  const text = await first.text();
  assert.match(
    text,
    /All pages[^]*href="one\.html#part"[^]*npm run docs|npm run docs[^]*one\.html/,
  );
  assert.doesNotMatch(text, /x\.ts|!a dot/);
  assert.match(
    text,
    /<section class="markdown">[^]*<img src="data:image\/png;base64,[^"]+" alt="a dot">/,
  );
  const one = await (await ask("/docs/one.html")).text();
  assert.match(one, /href="reference\/index\.html"/);
  assert.doesNotMatch(one, /<script/);
  assert.match(await (await ask("/docs/reference/index.html")).text(), /href="\.\.\/one\.html"/);
});

test("the built site is shown in their place, and its scripts can ask nobody", async () => {
  mkdirSync(join(site, "part"), { recursive: true });
  writeFileSync(join(site, "index.html"), "<h1>The site</h1>");
  writeFileSync(join(site, "part/index.html"), "<h1>A part</h1>");
  const page = await ask("/docs/index.html");
  assert.match(page.headers.get("content-type")!, /text\/html/);
  const policy = page.headers.get("content-security-policy")!;
  assert.match(policy, /script-src 'self';.*connect-src 'none'/);
  assert.match(await page.text(), /The site/);
  assert.match(await (await ask("/docs/part/")).text(), /A part/);
});

test("the help shows no other file, and nothing without the token", async () => {
  assert.equal((await ask("/docs/none.html")).status, 404);
  assert.notEqual((await ask("/docs/..%2f..%2fetc%2fpasswd")).status, 200);
  const stranger = await fetch(new URL("/docs/index.html", server.url), { redirect: "manual" });
  assert.notEqual(stranger.status, 200);
});
