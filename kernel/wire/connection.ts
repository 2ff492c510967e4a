import { readFileSync } from "node:fs";

/** What a front end writes into the file it starts a kernel with. */
export interface Connection {
  transport: string;
  ip: string;
  key: string;
  signature_scheme: string;
  shell_port: number;
  iopub_port: number;
  stdin_port: number;
  control_port: number;
  hb_port: number;
}

const ports = ["shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"] as const;

/** Reads a connection file; names the field that is wrong. */
export function readConnection(file: string): Connection {
  const raw = JSON.parse(readFileSync(file, "utf8")) as Partial<Connection>;
  for (const port of ports) {
    if (!Number.isInteger(raw[port])) {
      throw new TypeError(`Cannot read ${file}: ${port} must be an integer, got ${raw[port]}`);
    }
  }
  if (raw.transport !== undefined && !["tcp", "ipc"].includes(raw.transport)) {
    throw new RangeError(`Cannot read ${file}: transport must be tcp or ipc, got ${raw.transport}`);
  }
  return {
    ...(raw as Connection),
    transport: raw.transport ?? "tcp",
    ip: raw.ip ?? "127.0.0.1",
    key: raw.key ?? "",
    signature_scheme: raw.signature_scheme ?? "hmac-sha256",
  };
}

/** The address a socket binds to. */
export function endpoint(connection: Connection, port: number): string {
  return connection.transport === "ipc"
    ? `ipc://${connection.ip}-${port}`
    : `tcp://${connection.ip}:${port}`;
}
