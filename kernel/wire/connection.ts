import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";

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
  /** The kernel's pair of keys (Z85) where its sockets are to be encrypted. */
  curve_publickey?: string;
  curve_secretkey?: string;
}

const ports = ["shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"] as const;

const isKey = (value: unknown): boolean => typeof value === "string" && value.length === 40;

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
  for (const name of ["curve_publickey", "curve_secretkey"] as const) {
    const given = raw[name] !== undefined;
    if (given !== (raw.curve_secretkey !== undefined) || (given && !isKey(raw[name])))
      throw new TypeError(
        `Cannot read ${file}: ${name} must be a key of 40 characters beside its pair`,
      );
  }
  return {
    ...(raw as Connection),
    transport: raw.transport ?? "tcp",
    ip: raw.ip ?? "127.0.0.1",
    key: raw.key ?? "",
    signature_scheme: raw.signature_scheme ?? "hmac-sha256",
  };
}

/** How the folder of a connection file begins that was made for one kernel (kernel/client/kernel-process.ts). */
export const KERNEL_FOLDER = "arpo-kernel-";

/** Removes such a folder, for a front end that was killed and cannot. */
export function removeKernelFolder(file: string): void {
  const folder = dirname(file);
  if (basename(folder).startsWith(KERNEL_FOLDER)) rmSync(folder, { recursive: true, force: true });
}

/** The address a socket binds to. */
export function endpoint(connection: Connection, port: number): string {
  return connection.transport === "ipc"
    ? `ipc://${connection.ip}-${port}`
    : `tcp://${connection.ip}:${port}`;
}

/** Signs and checks the four parts of a message with the connection's key. */
export class Signer {
  readonly #key: string;
  readonly #hash: string;

  /** An empty key means that messages are not signed, as Jupyter allows. */
  constructor(key: string, scheme = "hmac-sha256") {
    const hash = /^hmac-(\w+)$/.exec(scheme)?.[1];
    if (hash === undefined) {
      throw new RangeError(`Cannot sign messages: the scheme must be hmac-HASH, got ${scheme}`);
    }
    this.#key = key;
    this.#hash = hash;
  }

  sign(parts: Uint8Array[]): string {
    if (this.#key === "") return "";
    const hmac = createHmac(this.#hash, this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest("hex");
  }

  verify(signature: Uint8Array, parts: Uint8Array[]): boolean {
    if (this.#key === "") return true;
    const expected = Buffer.from(this.sign(parts));
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  }
}
