import { isIPv4 } from "node:net";
import type { FrameSocket, Sockets } from "../contract/sockets.js";
import { type Connection, endpoint } from "./connection.js";
import { PublisherSocket, ReplySocket, RouterSocket, type SocketLimits } from "./zmtp.js";

/** Messages larger than this are refused by the socket, which drops that connection. */
const MAX_MESSAGE = 1 << 30;

/**
 * What a subscriber may be behind, in messages (a publisher gathers text into some 64 kB each), and how
 * long in milliseconds it may take nothing at all before its connection is closed. Until then sending
 * waits for it, and so does the cell (see channel.ts): memory is bounded and a reader misses nothing,
 * however slow.
 */
const BEHIND = 1000;
const STALL = 20_000;

/** How long a socket that is closed goes on sending, in milliseconds. */
const LINGER = 1000;

/** Binds the five sockets of a kernel. */
export function bindSockets(connection: Connection): Promise<Sockets> {
  const { curve_secretkey, transport, ip } = connection;
  const isPlain = curve_secretkey === undefined && (transport === "ipc" ? isPath(ip) : isIPv4(ip));
  return isPlain ? bindOwn(connection) : bindZeromq(connection);
}

/** No name of Linux's abstract sockets. */
const isPath = (name: string): boolean => process.platform !== "win32" && !name.startsWith("@");

async function bindOwn(connection: Connection): Promise<Sockets> {
  const limits: SocketLimits = {
    ...{ maxMessageSize: MAX_MESSAGE, linger: LINGER, behind: BEHIND, stall: STALL },
  };
  const sockets = {
    shell: new RouterSocket(limits),
    control: new RouterSocket(limits),
    stdin: new RouterSocket(limits),
    iopub: new PublisherSocket(limits),
    heartbeat: new ReplySocket(limits),
  };
  const place = (port: number) =>
    connection.transport === "ipc"
      ? { path: endpoint(connection, port).slice("ipc://".length) }
      : { host: connection.ip, port };
  const { shell_port, control_port, stdin_port, iopub_port, hb_port } = connection;
  await Promise.all([
    sockets.shell.bind(place(shell_port)),
    sockets.control.bind(place(control_port)),
    sockets.stdin.bind(place(stdin_port)),
    sockets.iopub.bind(place(iopub_port)),
    sockets.heartbeat.bind(place(hb_port)),
  ]);
  return sockets;
}

/** With libzmq: encrypted, and at addresses of all the kinds that it knows. */
async function bindZeromq(connection: Connection): Promise<Sockets> {
  const { capability, Reply, Router, XPublisher } = await import("zeromq");
  const { curve_secretkey } = connection;
  if (curve_secretkey !== undefined && capability.curve !== true)
    throw new Error(
      "Cannot start a kernel with encrypted sockets: ZeroMQ must be built with curve, got a build without it",
    );
  // Where the connection has keys, nobody without them hears or says anything (CurveZMQ).
  const curve =
    curve_secretkey === undefined ? {} : { curveServer: true, curveSecretKey: curve_secretkey };
  const router = {
    ...curve,
    ...{ linger: LINGER, sendHighWaterMark: 0, maxMessageSize: MAX_MESSAGE },
  } as const;
  // Without `noDrop` a publisher drops what is too much for a subscriber, and tells nobody.
  const subscribers = {
    sendHighWaterMark: BEHIND,
    noDrop: true,
    tcpMaxRetransmitTimeout: STALL,
  } as const;
  const sockets = {
    shell: new Router({ ...router, handover: true }),
    control: new Router({ ...router, handover: true }),
    stdin: new Router({ ...router, handover: true }),
    iopub: new XPublisher({ ...router, ...subscribers }),
    heartbeat: new Reply({ ...curve, linger: 0 }),
  };
  const { shell_port, control_port, stdin_port, iopub_port, hb_port } = connection;
  await Promise.all([
    sockets.shell.bind(endpoint(connection, shell_port)),
    sockets.control.bind(endpoint(connection, control_port)),
    sockets.stdin.bind(endpoint(connection, stdin_port)),
    sockets.iopub.bind(endpoint(connection, iopub_port)),
    sockets.heartbeat.bind(endpoint(connection, hb_port)),
  ]);
  const framed = (
    socket: InstanceType<typeof Router | typeof XPublisher | typeof Reply>,
  ): FrameSocket => ({
    [Symbol.asyncIterator]: () => socket[Symbol.asyncIterator](),
    send: (frames) => socket.send(frames as Buffer[]),
    close: () => socket.close(),
    get closed() {
      return socket.closed;
    },
  });
  return {
    shell: framed(sockets.shell),
    control: framed(sockets.control),
    stdin: framed(sockets.stdin),
    iopub: framed(sockets.iopub),
    heartbeat: framed(sockets.heartbeat),
  };
}
