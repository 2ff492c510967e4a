import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  milliseconds,
  type OptionRules,
  texts,
} from "../../../common/options/check-options.js";
import { readFileSync } from "#platform/files";
import { withoutSecrets } from "../../base/http/without-secrets.js";
import { packagePath } from "#platform/modules";
import type { Client } from "#mcp";
import { type ArgumentSchema, describeArguments, readArguments } from "../json-arguments.js";
import type { Tool } from "../tool.js";

/** Where an MCP server is: a program to start, or an address. */
export type McpServer =
  | { command: string; args?: string[]; env?: Record<string, string>; cwd?: string }
  | { url: string; headers?: Record<string, string> };

export interface McpOptions {
  /** Take only these tools. Default: all. */
  only?: readonly string[];
  /** Put in front of every tag, for tools of several servers with equal names. Default: none. */
  prefix?: string;
  /** Milliseconds to wait for the server to answer when connecting. Default 30,000. */
  connectMs?: number;
}

const rules: OptionRules<McpOptions> = {
  only: texts,
  prefix: "text?",
  connectMs: milliseconds,
};

/** How many pages a server may need for its tools, and how many tools it may have. */
const mostPages = 64;
const mostTools = 1000;

/** A server's tools, and the way to close it. */
export interface McpTools {
  tools: Tool[];
  /** What the server calls itself. */
  server: string;
  close(): Promise<void>;
}

/**
 * Turns the tools of an MCP server into tools here.
 *
 * The model writes the arguments as JSON between the tags; for a tool with a single text argument, plain
 * text will do. The answer is the server's text; what is not text is named, not shown. Closing once
 * any tool is disposed ends the connection for all of them.
 *
 * @param server how to reach the server: a command or an address
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mcpTools } from "arpo-lab/tools";
 *
 * await assert.rejects(
 *   mcpTools({ command: "no-such-program-here" }),
 *   /Cannot connect to the MCP server no-such-program-here/,
 * );
 * ```
 */
export async function mcpTools(server: McpServer, options: McpOptions = {}): Promise<McpTools> {
  checkArguments("use an MCP server", { server }, { server: "object" });
  checkOptions("use an MCP server", options, rules);
  const named = { ...server } as { url?: string; command?: string };
  checkArguments(
    "use an MCP server",
    named,
    "url" in named ? { url: "text" } : { command: "text" },
  );
  const where = "url" in server ? new URL(server.url).origin : server.command;
  // The protocol's own client, loaded when a server is asked for.
  const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await import("#mcp");
  const timeout = options.connectMs ?? 30_000;
  // Servers of 2026-07-28 know no handshake, older ones nothing else: a first question finds out which it is.
  // A program that does not answer it is an old one; it is started once more for the handshake.
  const probe = "url" in server ? {} : { timeoutMs: Math.ceil(timeout / 3) };
  const client = new Client(
    { name: "arpo-lab", version: ownVersion() },
    { versionNegotiation: { mode: "auto", probe }, listMaxPages: mostPages },
  );
  const headers = "url" in server ? (server.headers ?? {}) : {};
  const peer: Peer = { where, reason: (error) => withoutSecrets(headers, reason(error)) };
  const transport =
    "url" in server
      ? new StreamableHTTPClientTransport(new URL(server.url), {
          requestInit: { headers },
          fetch: boundedFetch,
        })
      : new StdioClientTransport({ stderr: "ignore", ...server });
  const fail = async (doing: string, rule: string, error: unknown): Promise<never> => {
    await client.close();
    throw new Error(
      `Cannot ${doing} the MCP server ${where}: it must ${rule}, got ${peer.reason(error)}`,
    );
  };
  try {
    await client.connect(transport, { timeout });
  } catch (error) {
    await fail("connect to", "answer", error);
  }
  const tools: Tool[] = [];
  const late = AbortSignal.timeout(timeout); // for all pages together
  try {
    const list = await client.listTools(undefined, { timeout, signal: late });
    if (list.tools.length > mostTools) throw new Error(`${list.tools.length} tools`);
    for (const { name, description, inputSchema } of list.tools) {
      if (options.only && !options.only.includes(name)) continue;
      const schema = inputSchema as ArgumentSchema;
      tools.push(toTool(client, peer, name, description, schema, options.prefix ?? ""));
    }
  } catch (error) {
    const rule = `list at most ${mostTools} tools on at most ${mostPages} pages`;
    await fail("use", rule, late.aborted ? `no end within ${timeout / 1000} s` : error);
  }
  return {
    tools,
    server: client.getServerVersion()?.name ?? where,
    close: () => client.close(),
  };
}

function ownVersion(): string {
  return (JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as { version: string })
    .version;
}

/** Bytes that an answer over HTTP may have; over standard streams the client keeps to as many. */
const mostBytes = 10 * 2 ** 20;

/** A `fetch` whose answers fail where they become too large. */
const boundedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init);
  if (!response.body || init?.method !== "POST") return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= mostBytes) controller.enqueue(chunk);
      else controller.error(new Error(`an answer of more than ${mostBytes} bytes`));
    },
  });
  return new Response(response.body.pipeThrough(limit), response);
};

/** What errors say of a server: where it is, and what went wrong without the secrets that it was sent. */
interface Peer {
  where: string;
  reason: (error: unknown) => string;
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

function toTool(
  client: Client,
  { where, reason }: Peer,
  name: string,
  description: string | undefined,
  schema: ArgumentSchema,
  prefix: string,
): Tool {
  const tag = `${prefix}${name}`.replace(/[^\w.-]/g, "_").replace(/^[^A-Za-z_]/, "_");
  return {
    name,
    tag,
    description: describeArguments(description ?? name, schema),
    parameters: schema,
    execute: async (input, { signal, timeoutMs }) => {
      const given = readArguments(input, schema);
      if (typeof given === "string") return given; // The model is told what was wrong with its call.
      try {
        const request = { name, arguments: given };
        const result = await client.callTool(request, {
          signal, // The tool set's own clock ends it; the client's is only there because it has to be.
          timeout: timeoutMs + 1000,
        });
        const text = contentText(result.content);
        return { text: result.isError ? `Error: ${text}` : text, ok: true };
      } catch (error) {
        signal.throwIfAborted();
        const message = `Cannot call ${name} of the MCP server ${where}: ${reason(error)}`;
        return { text: "", ok: false, error: message };
      }
    },
    dispose: () => client.close(),
  };
}

function contentText(content: unknown): string {
  const parts = Array.isArray(content) ? (content as Record<string, unknown>[]) : [];
  return parts
    .map((part) => {
      if (part.type === "text") return String(part.text);
      const resource = part.resource as { text?: string; uri?: string } | undefined;
      if (part.type === "resource" && resource?.text !== undefined) return resource.text;
      return `[${String(part.type)}: ${String(part.mimeType ?? resource?.uri ?? part.uri ?? "")}]`;
    })
    .join("\n");
}
