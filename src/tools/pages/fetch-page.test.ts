import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { ToolSet } from "../tool-set.js";
import { bestPassage } from "./best-passage.js";
import { deepSearchTool, type Passage } from "./deep-search.js";
import { isPrivate, PageFetcher } from "./fetch-page.js";
import { htmlText } from "./html-text.js";

const texts: [string, string][] = [
  ["plain", "plain"],
  ["<p>a<br>b</p><div>c</div>", "a\nb\nc"],
  ["a <b>b</b>c  \n d", "a bc\nd"],
  ["<!-- <p>no</p> --><!doctype html><p title='a>b'>yes", "yes"],
  ["<script>if (a < b) document.write('</p>')</script>x", "x"],
  ["<nav><ul><nav>inner</nav><li>menu</ul></nav><main>text</main>", "text"],
  ["<td>1</td><td>2</td>", "1\n2"],
  ["&lt;p&gt; &#65;&#x42; &nbsp;&unknown; &#xD800;", "<p> AB &unknown; \ufffd"],
  ["1 < 2 and 3 > 2", "1 < 2 and 3 > 2"],
  ["<style>never ends", ""],
  ["<p>open <", "open <"],
];
for (const [html, expected] of texts) {
  test(`htmlText() reads ${JSON.stringify(html)}`, () => {
    assert.equal(htmlText(html), expected);
  });
}

test("htmlText() comes to the end of hostile pages", () => {
  const module = JSON.stringify(new URL("./html-text.js", import.meta.url));
  const read = `
    const { htmlText } = await import(${module});
    for (const part of ["<", "<a ", "<!--", "&", "<script>", '<a b="', "<p>", "</"])
      console.log(htmlText(part.repeat(1_000_000)).length);`;
  // Of so long a page anything that looks at every pair of places takes minutes.
  const options = { encoding: "utf8", timeout: 60_000 } as const;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", read], options);
  assert.equal(stdout.trim().split("\n").length, 8, stdout);
});

test("bestPassage() finds a sentence wherever it stands in a long page, and however long it is", () => {
  for (const length of [0, 1990, 1999, 2000, 2001, 5000]) {
    const wanted = "The Bridge of Valdun was opened in 1931. ";
    const page = `${"Rain fell. ".repeat(length / 11)}${wanted}${"Snow fell. ".repeat(500)}`;
    const { text } = bestPassage(page, wanted, { around: 0 });
    assert.equal(text, wanted, `behind ${length} characters`);
  }
  const long = `The ${"bridge of Valdun and ".repeat(300)}its river. `;
  const found = bestPassage(`Rain fell. ${long}Snow fell.`, "bridge Valdun and its river", {
    around: 0,
  });
  assert.ok(found.text === long);
});

test("bestPassage() keeps what surrounds the best sentence, or the beginning", () => {
  const filler = "Nothing to see here at all. ".repeat(400);
  const page = `${filler}The bridge of Valdun was opened in 1931. ${filler}`;
  const { text, matched } = bestPassage(page, "Bridge of Valdun, opened 1931");
  assert.equal(matched, true);
  assert.ok(text.includes("opened in 1931") && text.length <= 6100);
  assert.deepEqual(bestPassage(filler, "unrelated words"), {
    text: filler.slice(0, 6000),
    matched: false,
  });
});

async function serve(t: TestContext): Promise<{ url: string; visits: () => number }> {
  let visits = 0;
  const server = createServer((request, response) => {
    visits++;
    if (request.url === "/moved") response.writeHead(302, { location: "/page" }).end();
    else if (request.url === "/away")
      response.writeHead(302, { location: "file:///etc/passwd" }).end();
    else if (request.url === "/image")
      response.writeHead(200, { "content-type": "image/png" }).end();
    else if (request.url === "/big") response.writeHead(200).end("x".repeat(2 << 20));
    else if (request.url === "/gone") response.writeHead(404).end();
    else
      response
        .writeHead(200, { "content-type": "text/html" })
        .end("<p>Paved roads lead to <i>Rome</i>.");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits: () => visits,
  };
}

test("PageFetcher.fetch() reads pages, follows them and keeps them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pages-"));
  const { url, visits } = await serve(t);
  const cachePath = join(folder, "pages.jsonl");
  const pages = new PageFetcher({
    allowPrivate: true,
    cachePath,
    maxBytes: 1 << 20,
    timeoutMs: 2000,
  });
  t.after(() => {
    pages.close();
    rmSync(folder, { recursive: true });
  });
  const both = await Promise.all([pages.fetch(`${url}/page`), pages.fetch(`${url}/page`)]);
  assert.deepEqual(both, ["Paved roads lead to Rome.", "Paved roads lead to Rome."]);
  assert.equal(
    await new PageFetcher({ cachePath }).fetch(`${url}/page`),
    "Paved roads lead to Rome.",
  );
  assert.equal(visits(), 1);
  assert.equal(await pages.fetch(`${url}/moved`), "Paved roads lead to Rome.");
  await assert.rejects(pages.fetch(`${url}/away`), /must|unsupported/i);
  await assert.rejects(pages.fetch(`${url}/image`), /must be text, got image\/png/);
  await assert.rejects(pages.fetch(`${url}/big`), /Cannot fetch/);
  await assert.rejects(pages.fetch(`${url}/gone`), /got 404/);
  await assert.rejects(pages.fetch("file:///etc/passwd"), /http or https, got file:/);
});

test("PageFetcher.fetch() refuses this machine and its networks", async (t) => {
  const { url, visits } = await serve(t);
  const pages = new PageFetcher({ timeoutMs: 2000 });
  const port = new URL(url).port;
  for (const host of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0"]) {
    await assert.rejects(pages.fetch(`http://${host}:${port}/page`), /must be public/, host);
  }
  assert.equal(visits(), 0);
  const near = [
    "10.1.2.3",
    "192.168.0.1",
    "169.254.169.254",
    "fe80::1",
    "fe80::1%eth0",
    "::ffff:a00:1",
  ];
  // IPv4 addresses of this machine, carried by IPv6 ones.
  const carried = ["::7f00:1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2001::1"];
  for (const host of [...near, ...carried]) assert.equal(isPrivate(host), true, host);
  for (const host of ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8"]) {
    assert.equal(isPrivate(host), false, host);
  }
});

test("deepSearchTool() reads what was found and takes what follows the marker", async (t) => {
  const { url } = await serve(t);
  const provider = {
    name: "p",
    search: () =>
      Promise.resolve([
        { title: "Roads", url: `${url}/page`, description: "roads lead to Rome" },
        { title: "Gone", url: `${url}/gone`, description: "only a snippet" },
        { title: "No address", description: "x" },
      ]),
  };
  const pages = new PageFetcher({ allowPrivate: true });
  const plain = new ToolSet([deepSearchTool({ provider, pages })]);
  assert.equal(
    (await plain.call("search", "q")).text,
    "Page 1: Roads\nPaved roads lead to Rome.\n\nPage 2: Gone\nonly a snippet",
  );
  let given: Passage[] = [];
  const summarize = (_: string, passages: Passage[]) => {
    given = passages;
    return Promise.resolve("thinking... **Final Information**\n Rome ");
  };
  const short = new ToolSet([deepSearchTool({ provider, pages, summarize })]);
  assert.equal((await short.call("search", "q")).text, "Rome");
  assert.equal(given.length, 2);
});
