import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../tests/free-port.js";
import { modernServer } from "../../../tests/mcp/modern-server.js";
import { until } from "../../../tests/until.js";
import { ToolSet } from "../tool-set.js";
import { mcpTools, type McpServer } from "./mcp-tools.js";

const everything = join(
  dirname(
    createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"),
  ),
  "dist/index.js",
);

async function exercise(server: McpServer): Promise<void> {
  const { tools, server: name } = await mcpTools(server, { prefix: "x_" });
  assert.match(name, /everything/);
  await using set = new ToolSet(tools, { timeoutMs: 20_000 });
  assert.ok(set.tags.includes("x_echo"));
  assert.match(set.get("x_echo")!.description, /message \(string\)/);
  assert.match((await set.call("x_echo", "plain words")).text, /plain words/);
  assert.match((await set.call("x_echo", '{"message": "as JSON"}')).text, /as JSON/);
  const sum = await set.call("x_get-sum", '{"a": 20, "b": 22}');
  assert.match(sum.text, /42/);
  assert.match((await set.call("x_get-sum", "20, 22")).text, /^Error: the arguments must be/);
  // What the server itself refuses is an answer; the model can read it and do better.
  const refused = await set.call("x_get-sum", '{"a": "many"}');
  assert.equal(refused.ok, true);
  assert.match(refused.text, /^Error: /);
  assert.match((await set.call("x_get-tiny-image", "")).text, /\[image: image\/png\]/);
}

test("mcpTools() drives a real server over standard streams", async () => {
  await exercise({ command: process.execPath, args: [everything, "stdio"] });
});

test("mcpTools() drives a real server over streamable HTTP", async (t) => {
  const port = await freePort();
  const server = spawn(process.execPath, [everything, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => server.kill());
  const url = `http://127.0.0.1:${port}/mcp`;
  await until(() => {
    assert.equal(server.exitCode, null, "the server ended");
    return fetch(url).catch(() => undefined);
  }, "the server to answer");
  await exercise({ url });
});

test("mcpTools() takes the tools asked for", async () => {
  const { tools, close } = await mcpTools(
    { command: process.execPath, args: [everything, "stdio"] },
    { only: ["echo"] },
  );
  assert.deepEqual(
    tools.map(({ tag }) => tag),
    ["echo"],
  );
  await close();
});

test("mcpTools() reports a server that dies during a call as a failure", async () => {
  const dying = `
    const { createInterface } = require("node:readline");
    const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === "initialize") say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "d", version: "1" } } });
      else if (method === "tools/list") say({ id, result: { tools: [{ name: "die", inputSchema: { type: "object", properties: {} } }] } });
      else if (method === "tools/call") process.exit(1);
    });`;
  // It leaves the question of newer clients without an answer, too.
  const server = { command: process.execPath, args: ["-e", dying] };
  const { tools } = await mcpTools(server, { connectMs: 3000 });
  await using set = new ToolSet(tools, { timeoutMs: 5000, retryCount: 1 });
  const outcome = await set.call("die", "{}");
  assert.equal(outcome.failure?.kind, "error");
  assert.match(outcome.failure!.message, /closed/i);
});

test("mcpTools() says which server does not answer", async () => {
  const port = await freePort();
  await assert.rejects(
    mcpTools({ url: `http://127.0.0.1:${port}/mcp` }),
    /Cannot connect to the MCP server http/,
  );
  await assert.rejects(
    mcpTools(
      { command: process.execPath, args: ["-e", "setTimeout(() => {}, 60000)"] },
      { connectMs: 300 },
    ),
    /must answer/,
  );
});

test("mcpTools() drives servers that speak 2026-07-28 alone, over HTTP and standard streams", async (t) => {
  const program = fileURLToPath(new URL("../../../tests/mcp/modern-server.js", import.meta.url));
  const servers: McpServer[] = [
    { url: await modernServer(t) },
    { command: process.execPath, args: [program] },
  ];
  for (const one of servers) {
    const { tools, server } = await mcpTools(one);
    assert.equal(server, "modern");
    await using set = new ToolSet(tools, { timeoutMs: 20_000 });
    assert.equal((await set.call("add", '{"a": 20, "b": 22}')).text, "42");
    const refused = await set.call("add", '{"a": "many", "b": 1}');
    assert.match(refused.failure?.message ?? refused.text, /a/);
  }
});

/** A server of the old revision whose pages never end; `page` is what each has. */
const endless = (page: string) => `
  const { createInterface } = require("node:readline");
  const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
  let pages = 0;
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "d", version: "1" } } });
    else if (method === "tools/list") { ${page} }
    else if (id !== undefined) say({ id, error: { code: -32601, message: "no such method" } });
  });`;

test("mcpTools() ends with pages that never do: by their number, by their tools, by the time", async () => {
  const page = (tools: string) =>
    `pages++; say({ id, result: { tools: ${tools}, nextCursor: "c" + pages } });`;
  const tool = `{ name: "t" + pages, inputSchema: { type: "object" } }`;
  const cases: [string, RegExp, number?][] = [
    [page(`[${tool}]`), /Cannot use the MCP server .*at most 64 pages, got .*pagination/],
    [
      `say({ id, result: { tools: Array.from({ length: 1001 }, (_, pages) => (${tool})) } });`,
      /at most 1000 tools on at most 64 pages, got 1001 tools/,
    ],
    [`setTimeout(() => { ${page(`[${tool}]`)} }, 300);`, /got no end within 2 s/, 2000],
  ];
  for (const [answer, message, connectMs] of cases) {
    const server = { command: process.execPath, args: ["-e", endless(answer)] };
    await assert.rejects(mcpTools(server, connectMs === undefined ? {} : { connectMs }), message);
  }
});

test("mcpTools() over HTTP: an answer without end, a hang and one that says the key back", async (t) => {
  type Does = (response: ServerResponse, key: string) => unknown;
  const piece = " ".repeat(2 ** 20);
  const does: Record<string, Does> = {
    flood: (response) => {
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.writeHead(200, { "content-type": "application/json" }).on("drain", more);
      more();
    },
    hang: () => undefined,
    tell: (response, key) => response.writeHead(500).end(`no entry with ${key}`),
  };
  const server = createServer((request, response) => {
    const key = String(request.headers.authorization);
    let text = "";
    request.on("data", (more) => (text += more));
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method, params } = JSON.parse(text) as Record<string, never> & {
        params: { name: string; protocolVersion: string };
      };
      const say = (more: object) =>
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, ...more }));
      if (id === undefined) return response.writeHead(202).end();
      if (method === "initialize") {
        const { protocolVersion } = params;
        const serverInfo = { name: "bad", version: "1" };
        return say({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
      }
      if (method === "tools/list") {
        const tools = Object.keys(does).map((name) => ({ name, inputSchema: { type: "object" } }));
        return say({ result: { tools } });
      }
      if (method === "tools/call") return does[params.name]!(response, key);
      return say({ error: { code: -32601, message: "no such method" } });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/mcp`;
  const { tools } = await mcpTools({ url, headers: { Authorization: "Bearer s3cret-key-9" } });
  await using set = new ToolSet(tools, { timeoutMs: 4000, retryCount: 1 });
  const failure = async (name: string) => (await set.call(name, "{}")).failure!;
  const flood = await failure("flood");
  assert.match(
    flood.message,
    /^Cannot call flood of the MCP server http:\S+: .*more than 10485760 bytes/,
  );
  assert.equal((await failure("hang")).kind, "timeout");
  const { message } = await failure("tell");
  assert.match(message, /^Cannot call tell of the MCP server http/);
  assert.ok(!message.includes("s3cret"), message);
});
