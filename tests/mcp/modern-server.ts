// A server of MCP's revision 2026-07-28 that takes no older client; as a program it speaks by standard streams.
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { z } from "zod";

function modern(): McpServer {
  const server = new McpServer({ name: "modern", version: "1" });
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  server.registerTool("add", { description: "Adds.", inputSchema }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  return server;
}

/** Serves it over HTTP for a test; gives its address. */
export async function modernServer(t: TestContext): Promise<string> {
  const handle = toNodeHandler(createMcpHandler(modern, { legacy: "reject" }));
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serveStdio(modern, { legacy: "reject" });
