// How the Model Context Protocol's client and server are packed into one file, `#mcp`, so that its packages need not be installed.
import { build } from "./bundle.mjs";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const contents = `export { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
export { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
export { McpServer } from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
`;

/** A tab starts no programs, so it speaks to no server by its standard streams. */
const inTab = `export { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
export class StdioClientTransport {
  constructor({ command }) {
    throw new Error(\`a browser tab starts no programs, such as \${command}: give a url\`);
  }
}
`;

/** Packs the client for a browser tab. */
export async function packMcpForTab(outfile) {
  await build({
    stdin: { contents: inTab, resolveDir: root },
    outfile,
    bundle: true,
    platform: "browser",
    format: "esm",
    target: "es2022",
    minify: true,
    keepNames: true,
    logLevel: "error",
  });
}

/** Packs both into `outfile`. The types beside it are for building alone: no declaration names them. */
export async function packMcp(outfile) {
  await build({
    stdin: { contents, resolveDir: root },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minify: true,
    keepNames: true,
    logLevel: "error",
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  writeFileSync(outfile.replace(/\.mjs$/, ".d.mts"), contents);
}
