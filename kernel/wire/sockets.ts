import { capability, Reply, Router, XPublisher } from "zeromq";
import type { FrameSocket, Sockets } from "../contract/sockets.js";
import { type Connection, endpoint } from "./connection.js";

/** A frame larger than this is refused by the socket, which drops that connection. */
const MAX_FRAME = 1 << 30;

/**
 * What a subscriber may be behind, in messages (a publisher gathers text into some 64 kB each), and how
 * long in milliseconds it may take nothing at all before its connection is closed. Until then sending
 * waits for it, and so does the cell (see channel.ts): memory is bounded and a reader misses nothing,
 * however slow. Without `noDrop` a publisher drops what is too much for a subscriber, and tells nobody.
 */
const subscribers = {
  sendHighWaterMark: 1000,
  noDrop: true,
  tcpMaxRetransmitTimeout: 20_000,
} as const;

/** Where the connection has keys, nobody without them hears or says anything (CurveZMQ). */
function encryption({ curve_secretkey }: Connection) {
  if (curve_secretkey === undefined) return {};
  if (capability.curve !== true)
    throw new Error(
      "Cannot start a kernel with encrypted sockets: ZeroMQ must be built with curve, got a build without it",
    );
  return { curveServer: true, curveSecretKey: curve_secretkey } as const;
}

/** Binds the five sockets of a kernel. */
export async function bindSockets(connection: Connection): Promise<Sockets> {
  const curve = encryption(connection);
  const router = {
    ...curve,
    ...{ linger: 1000, sendHighWaterMark: 0, maxMessageSize: MAX_FRAME },
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
  const framed = (socket: Router | XPublisher | Reply): FrameSocket => ({
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
