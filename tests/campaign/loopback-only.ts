import { Socket } from "node:net";

/** Lets this process connect to this machine alone. */
export function loopbackOnly(): void {
  const connect = Socket.prototype.connect as (...args: unknown[]) => Socket;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    const [first] = args.flat() as [{ host?: string; path?: string } | string | number];
    const host = typeof first === "object" ? (first.host ?? "localhost") : "localhost";
    const isPath = typeof first === "object" && first.path !== undefined;
    if (!isPath && !/^(localhost|127\.[\d.]+|::1)$/.test(host)) {
      throw new Error(`A campaign connects to this machine alone, got ${host}`);
    }
    return connect.apply(this, args);
  } as typeof Socket.prototype.connect;
}
