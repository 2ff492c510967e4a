import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ToolSet } from "../tool-set.js";
import { AppendStore } from "./append-store.js";
import { brightData, isChinese } from "./bright-data.js";
import {
  exportEvaluationCache,
  exportJsonCache,
  importEvaluationCache,
  importJsonCache,
} from "./cache-files.js";
import { jsonEndpoint } from "./json-endpoint.js";
import { offlineSearch } from "./offline.js";
import { SearchCache } from "./search-cache.js";
import { searchTool } from "./search-tool.js";
import { searxng } from "./searxng.js";

const folder = (t: TestContext) => {
  const path = mkdtempSync(join(tmpdir(), "search-"));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
};

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(t: TestContext, handler: Handler): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data: Buffer) => (body += data.toString()));
    request.on("end", () => {
      seen.push(`${request.method} ${request.url} ${body}`);
      handler(request, response, body);
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

const good = JSON.stringify({
  organic: [{ description: "found", title: "T", link: "https://x.invalid/" }],
});

const faults: Record<string, Handler> = {
  "429": (_, response) => response.writeHead(429).end("slow down"),
  "500": (_, response) => response.writeHead(500).end(),
  "204": (_, response) => response.writeHead(204).end(),
  "truncated JSON": (_, response) => response.end(good.slice(0, -9)),
  "a cut connection": (_, response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write(good.slice(0, 5));
    setTimeout(() => response.destroy(), 10);
  },
  "a reset": (request) => request.socket.resetAndDestroy(),
  "a wrong shape": (_, response) => response.end('{"organic": 3}'),
  "no answer in time": () => undefined,
};
for (const [fault, handler] of Object.entries(faults)) {
  test(`searchTool() repeats after ${fault} and then succeeds`, async (t) => {
    let n = 0;
    const { url, seen } = await serve(t, (request, response, body) => {
      if (++n < 3) handler(request, response, body);
      else response.end(good);
    });
    const provider = brightData({ apiKey: "SECRETKEY", url, timeoutMs: 200 });
    await using tools = new ToolSet([searchTool({ provider })]);
    const outcome = await tools.call("search", "q");
    assert.deepEqual([outcome.text, outcome.retries], ["Page 1: found", 2]);
    assert.equal(seen.length, 3);
  });
  test(`searchTool() reports ${fault} as a failure, without the key`, async (t) => {
    const { url } = await serve(t, handler);
    const provider = brightData({ apiKey: "SECRETKEY", url, timeoutMs: 100 });
    await using tools = new ToolSet([searchTool({ provider })], { retryCount: 2 });
    const outcome = await tools.call("search", "q");
    assert.equal(outcome.text, "Error: Tool(search) execution failed.");
    assert.equal(outcome.failure?.kind, "error");
    assert.doesNotMatch(JSON.stringify(outcome), /SECRETKEY/);
  });
}

for (const [fault, handler] of Object.entries(faults)) {
  test(`searxng() rejects after ${fault}`, async (t) => {
    const { url } = await serve(t, handler);
    await assert.rejects(
      searxng({ url, timeoutMs: 100 }).search("private words"),
      (error: Error) => {
        assert.doesNotMatch(error.message, /private/);
        return true;
      },
    );
  });
}

test("searchTool() gives up at once when the key is refused", async (t) => {
  const { url, seen } = await serve(t, (_, response) => response.writeHead(401).end());
  await using tools = new ToolSet([searchTool({ provider: brightData({ apiKey: "K", url }) })]);
  assert.match((await tools.call("search", "q")).failure!.message, /got 401/);
  assert.equal(seen.length, 1);
});

test("searchTool() asks once for queries that come at once, and remembers finding nothing", async (t) => {
  const { url, seen } = await serve(t, (_, response) => {
    setTimeout(() => response.end("{}"), 20);
  });
  await using tools = new ToolSet([searchTool({ provider: brightData({ apiKey: "K", url }) })]);
  const outcomes = await Promise.all(['"q"', "q", "q"].map((q) => tools.call("search", q)));
  for (const { text, ok } of outcomes)
    assert.deepEqual([text, ok], ["No search results found.", true]);
  await tools.call("search", "q");
  assert.equal(seen.length, 1);
});

test("searxng() reads what an instance answers", async (t) => {
  const { url, seen } = await serve(t, (_, response) => {
    response.end(
      JSON.stringify({ results: [{ content: "c", title: "t", url: "u" }, { content: null }] }),
    );
  });
  const hits = await searxng({ url, language: "en", engines: ["a", "b"] }).search("x y");
  assert.deepEqual(hits[0], { description: "c", title: "t", url: "u" });
  assert.equal(seen[0], "GET /search?q=x+y&format=json&language=en&engines=a,b ");
});

test("jsonEndpoint() fills in the query and finds the pages", async (t) => {
  const { url, seen } = await serve(t, (_, response) => {
    response.end(JSON.stringify({ result: [[{ document: { contents: "c" } }]] }));
  });
  const provider = jsonEndpoint({
    url: `${url}retrieve?n={limit}`,
    body: { queries: ["{query}"], topk: "{limit}" },
    list: "result.0",
    fields: { description: "document.contents" },
  });
  const [hit] = await provider.search('a "$&" b', { limit: 3 });
  assert.equal(hit!.description, "c");
  assert.equal(seen[0], 'POST /retrieve?n=3 {"queries":["a \\"$&\\" b"],"topk":3}');
  await assert.rejects(jsonEndpoint({ url, list: "nowhere" }).search("q"), /must hold a list/);
});

test("isChinese() needs an ideograph and no kana", () => {
  assert.deepEqual(["甄嬛传", "日本の", "abc", "", "北京 2008"].map(isChinese), [
    true,
    false,
    false,
    false,
    true,
  ]);
});

test("offlineSearch() finds the page of a name in the shipped corpus", async () => {
  const provider = offlineSearch();
  const facts = JSON.parse(
    readFileSync(
      fileURLToPath(new URL("../../../../data/corpus/facts.json", import.meta.url)),
      "utf8",
    ),
  ) as { name: string; kind: string }[];
  for (const { name } of facts.filter((_, i) => i % 29 === 0)) {
    const [first] = await provider.search(`Tell me about ${name}!`);
    assert.equal(first!.title, name);
  }
  assert.deepEqual(await provider.search('"* AND ( NOT'), []);
  assert.deepEqual(await provider.search(""), []);
  await provider.dispose();
});

test("AppendStore.get() sees what other processes wrote, and survives their half lines", async (t) => {
  const path = join(folder(t), "s.jsonl");
  const store = new AppendStore<string>(path);
  const module = new URL("./append-store.js", import.meta.url).href;
  const writers = [1, 2, 3].map((w) => {
    const code = `import { AppendStore } from ${JSON.stringify(module)};
      const s = new AppendStore(${JSON.stringify(path)});
      for (let i = 0; i < 200; i++) s.set("w${w}-" + i, "é".repeat(i));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: "inherit",
    });
    return new Promise((resolve) => child.once("exit", resolve));
  });
  assert.deepEqual(await Promise.all(writers), [0, 0, 0]);
  assert.equal(store.size, 600);
  assert.equal(store.get("w2-199"), "é".repeat(199));
  appendFileSync(path, '["half","wri');
  store.set("after", "ok");
  store.set("after", "better");
  assert.equal(store.get("after"), "better");
  assert.equal(store.get("half"), undefined);
  assert.equal(store.damaged, 1);
  const other = new AppendStore<string>(path);
  assert.equal(other.get("after"), "better");
  assert.equal(other.size, 601);
  // No line is ever rewritten: what another process appends meanwhile cannot be lost.
  assert.ok(!("compact" in store));
  other.close();
  store.close();
});

test("AppendStore.set() stores lines longer than its buffer", (t) => {
  const path = join(folder(t), "s.jsonl");
  const store = new AppendStore<string>(path);
  store.set("long", "x".repeat(3 << 20));
  store.set("short", "y");
  const again = new AppendStore<string>(path);
  assert.equal(again.get("long")!.length, 3 << 20);
  assert.equal(again.get("short"), "y");
  again.close();
  store.close();
});

test("SearchCache.get() forgets what is too old, empty results sooner", () => {
  const cache = new SearchCache({ ttlMs: 10_000, emptyTtlMs: 1000 });
  cache.set("a", { hits: [{ description: "x" }], at: Date.now() - 5000 });
  cache.set("b", { hits: [], at: Date.now() - 5000 });
  cache.set("c", { text: "old", at: Date.now() - 20_000 });
  assert.equal(cache.text("a"), "Page 1: x");
  assert.equal(cache.text("b"), undefined);
  assert.equal(cache.text("c"), undefined);
});

test("SearchCache shares a file, and drops its memory when refreshed", (t) => {
  const path = join(folder(t), "cache.jsonl");
  const [a, b] = [new SearchCache({ path }), new SearchCache({ path })];
  a.set("q", { text: "one", at: Date.now() });
  assert.equal(b.text("q"), "one");
  a.set("q", { text: "two", at: Date.now() });
  assert.equal(b.text("q"), "one");
  b.refresh();
  assert.equal(b.text("q"), "two");
  a.close();
  b.close();
});

test("importEvaluationCache() reads what exportEvaluationCache() writes", (t) => {
  const path = join(folder(t), "eval.db");
  const cache = new SearchCache();
  cache.set("Who is X?", { hits: [{ description: "d", title: "t", url: "u" }], at: 1.7e12 });
  cache.set("Imported", { text: "Page 1: first\nline\nPage 2: second", at: 1.7e12 });
  assert.equal(exportEvaluationCache(cache, path), 2);
  const again = new SearchCache();
  assert.equal(importEvaluationCache(again, path), 2);
  assert.equal(again.text("who is x"), "Page 1: d");
  assert.equal(again.text("imported"), "Page 1: first\nline\nPage 2: second");
  assert.equal(again.get("WHO IS X")!.at, 1.7e12);
  assert.throws(() => importEvaluationCache(again, join(path, "none")), /must exist/);
});

test("importJsonCache() refuses what is not a cache", (t) => {
  const path = join(folder(t), "c.json");
  writeFileSync(path, '{"a": 1}');
  assert.throws(() => importJsonCache(new SearchCache(), path), /from query to text/);
  writeFileSync(path, '{"a": "b');
  assert.throws(() => importJsonCache(new SearchCache(), path), TypeError);
});

const shared = fileURLToPath(
  new URL("../../../../../shared/data/cache/search_cache.json", import.meta.url),
);
const real = [shared, "../shared/data/cache/search_cache.json"].find((path) => existsSync(path));
test(
  "exportJsonCache() writes the reference's cache back as it was",
  { skip: real === undefined ? "../shared/data/cache/search_cache.json is not here" : false },
  (t) => {
    const cache = new SearchCache({ path: join(folder(t), "cache.jsonl") });
    assert.equal(importJsonCache(cache, real!), 1000);
    const out = join(folder(t), "out.json");
    exportJsonCache(cache, out);
    const text = readFileSync(real!, "utf8");
    assert.deepEqual(JSON.parse(readFileSync(out, "utf8")), JSON.parse(text));
    assert.equal(readFileSync(out, "utf8").length, text.length);
    cache.close();
  },
);
