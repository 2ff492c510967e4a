import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const types: Record<string, string> = {
  ".js": "text/javascript",
  ".html": "text/html",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

/** A folder on a plain host, below a path, with no header but the type; it notes who comes. */
export class FolderHost {
  /** Every address that was asked for, with what was asked. */
  readonly visits: string[] = [];

  private constructor(
    readonly server: Server,
    readonly url: string,
  ) {}

  static async start(folder: string): Promise<FolderHost> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const host = new FolderHost(server, `http://127.0.0.1:${port}/some-repo/`);
    server.on("request", ({ url = "/" }, response) => {
      host.visits.push(url);
      const path = new URL(url, host.url).pathname.replace(/^\/some-repo\//, "");
      try {
        const body = readFileSync(join(folder, normalize(`/${path}`)));
        const type = types[extname(path)] ?? "application/octet-stream";
        response.writeHead(200, { "content-type": type }).end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    return host;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
