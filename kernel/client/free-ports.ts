import { type AddressInfo, createServer } from "node:net";

/**
 * Ports of this machine that nobody listens at, all different. Another program may take one before its user does:
 * listen at port 0 instead wherever the program that listens can be asked for its port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(
        (server) =>
          new Promise<number>((found, failed) => {
            server.once("error", failed);
            server.listen(0, "127.0.0.1", () => found((server.address() as AddressInfo).port));
          }),
      ),
    );
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
}
