import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Stands between a browser and a server, and can cut the line. */
export class CutProxy {
  readonly #server: Server;
  readonly #lines = new Set<Socket>();
  /** While true, whoever comes is sent away. */
  isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: number): Promise<CutProxy> {
    const server = createServer((client) => {
      if (proxy.isCut) {
        client.destroy();
        return;
      }
      const line = connect(target, "127.0.0.1");
      client.pipe(line).pipe(client);
      for (const [end, other] of [
        [client, line],
        [line, client],
      ] as const) {
        proxy.#lines.add(end);
        end.on("error", () => other.destroy());
        end.on("close", () => {
          proxy.#lines.delete(end);
          other.destroy();
        });
      }
    });
    const proxy = new CutProxy(server);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks every connection, in the middle of whatever they carry. */
  cut(): void {
    this.isCut = true;
    for (const line of this.#lines) line.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((closed) => this.#server.close(closed));
  }
}
