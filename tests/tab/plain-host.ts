import { createServer, type Server } from "node:http";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const types: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** A host of static files that sends no headers of its own, with a site below `/some-repo/`. */
export class PlainHost {
  private constructor(
    readonly server: Server,
    readonly url: string,
  ) {}

  static async start(folder: string): Promise<PlainHost> {
    const server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url ?? "/", "http://host").pathname);
      const name = path.replace(/^\/some-repo\//, "") || "index.html";
      const place = join(folder, name);
      const isThere =
        path.startsWith("/some-repo/") && existsSync(place) && statSync(place).isFile();
      const shown = isThere ? place : join(folder, "404.html");
      const type = types[extname(shown)] ?? "application/octet-stream";
      response.writeHead(isThere ? 200 : 404, { "content-type": type });
      response.end(readFileSync(shown));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return new PlainHost(server, `http://127.0.0.1:${port}/some-repo/`);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
