// What `import * as tslab from "tslab"` gives in a cell: its documented API on this kernel's display.
// The types are tslab's own. Its code is not loaded, as that brings a second TypeScript compiler.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type * as tslab from "tslab";
import { currentHost } from "../host/host.js";

class Display implements tslab.Display {
  #shown = false;

  constructor(readonly id?: string) {}

  javascript = (text: string): void => this.raw("text/javascript", text);
  html = (text: string): void => this.raw("text/html", text);
  markdown = (text: string): void => this.raw("text/markdown", text);
  latex = (text: string): void => this.raw("text/latex", text);
  svg = (text: string): void => this.raw("image/svg+xml", text);
  png = (bytes: Uint8Array): void => this.raw("image/png", bytes);
  jpeg = (bytes: Uint8Array): void => this.raw("image/jpeg", bytes);
  gif = (bytes: Uint8Array): void => this.raw("image/gif", bytes);
  pdf = (bytes: Uint8Array): void => this.raw("application/pdf", bytes);
  text = (text: string): void => this.raw("text/plain", text);

  raw(contentType: string, content: string | Uint8Array): void {
    const data = typeof content === "string" ? content : Buffer.from(content).toString("base64");
    currentHost()?.display({ [contentType]: data }, { id: this.id, update: this.#shown });
    this.#shown = this.id !== undefined;
  }
}

/** Shows content of one kind, each time anew. */
export const display: tslab.Display = new Display();

/** A display whose every call replaces what it showed before. */
export function newDisplay(): tslab.Display {
  return new Display(randomUUID());
}

const versionOf = (name: string): string => {
  const path = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
};

export const versions: typeof tslab.versions = {
  tslab: versionOf("tslab"),
  typescript: versionOf("typescript"),
  node: process.version,
};
