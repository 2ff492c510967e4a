// Tools of fastmcp's servers, over both transports. Needs a Python that has fastmcp (ARPO_LAB_MCP_PYTHON). The servers
// of npm, server-everything among them, are in src/tools/mcp/mcp-tools.test.ts.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type McpServer, mcpTools } from "../../src/tools/mcp/mcp-tools.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

const python = process.env["ARPO_LAB_MCP_PYTHON"];
const program = fileURLToPath(new URL("../../../tests/python/mcp_server.py", import.meta.url));

function missing(): string | false {
  if (python === undefined) return "ARPO_LAB_MCP_PYTHON names no Python";
  const { status } = spawnSync(python, ["-c", "import fastmcp"]);
  return status !== 0 && `${python} has no fastmcp`;
}

async function adds(server: McpServer): Promise<void> {
  const { tools, server: name } = await mcpTools(server, { connectMs: 240_000 });
  assert.equal(name, "sums");
  await using set = new ToolSet(tools, { timeoutMs: 60_000 });
  assert.match(set.get("add")!.description, /^Adds two numbers\. Arguments as JSON: a \(integer\)/);
  assert.equal((await set.call("add", '{"a": 20, "b": 22}')).text, "42");
  const refused = await set.call("add", '{"a": "many", "b": 1}');
  assert.ok(refused.ok);
  assert.match(refused.text, /^Error: /);
}

test("fastmcp over standard streams", { skip: missing() }, async () => {
  await adds({ command: python!, args: [program] });
});

test("fastmcp over streamable HTTP", { skip: missing() }, async (t) => {
  const port = await freePort();
  const child = spawn(python!, [program, String(port)], { stdio: "ignore" });
  t.after(() => child.kill());
  const url = `http://127.0.0.1:${port}/mcp`;
  await until(() => fetch(url).catch(() => undefined), "the server answers", 240_000);
  await adds({ url });
});
