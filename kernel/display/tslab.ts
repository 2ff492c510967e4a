// What `import * as tslab from "tslab"` gives in a cell: its documented API on this kernel's display.
// The declarations and their comments follow tslab's public.d.ts (Copyright 2019 Yu Watanabe, Apache-2.0), so that
// its notebooks run where it is not installed; tests hold them against the package.
import { toBase64 } from "#platform/bytes";
import { runtime } from "#platform/process";
import { typescriptVersion } from "../host/versions.js";
import { randomUUID } from "#platform/uuid";
import { currentHost } from "../host/host.js";

/** Shows content of one kind. */
export interface Display {
  javascript(s: string): void;
  html(s: string): void;
  markdown(s: string): void;
  latex(s: string): void;
  svg(s: string): void;
  png(b: Uint8Array): void;
  jpeg(b: Uint8Array): void;
  gif(b: Uint8Array): void;
  pdf(b: Uint8Array): void;
  text(s: string): void;
  raw(contentType: string, b: string | Uint8Array): void;
}

class KernelDisplay implements Display {
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
    const data = typeof content === "string" ? content : toBase64(content);
    currentHost()?.display({ [contentType]: data }, { id: this.id, update: this.#shown });
    this.#shown = this.id !== undefined;
  }
}

/** Shows content of one kind, each time anew. */
export const display: Display = new KernelDisplay();

/** A display whose every call replaces what it showed before. */
export function newDisplay(): Display {
  return new KernelDisplay(randomUUID());
}

/** The versions of tslab whose API this is, of TypeScript and of Node. */
export const versions: { tslab: string; typescript: string; node: string } = {
  tslab: "1.0.22",
  typescript: typescriptVersion(),
  node: `v${runtime.version}`,
};
