// ZeroMQ's wire protocol (ZMTP 3.0, rfc.zeromq.org/spec/23) without encryption, for the three kinds of sockets that
// a kernel has. libzmq reads and writes on a thread of its own, which each message wakes on its way in and on its
// way out; here it is this thread that reads and writes.
import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { randomBytes } from "node:crypto";
import type { FrameSocket } from "../contract/sockets.js";

/** What a socket allows. */
export interface SocketLimits {
  /** Bytes of a message. */
  maxMessageSize: number;
  /** Milliseconds that a closed connection may go on sending. */
  linger: number;
  /** Messages that a subscriber may be behind. */
  behind: number;
  /** Milliseconds that a subscriber who is behind may take nothing. */
  stall: number;
}

const GREETING = 64;
const MORE = 1;
const LONG = 2;
const COMMAND = 4;
/** What a frame takes beside its bytes, so that empty ones are bounded too. */
const FRAME = 256;
/** Topics of one subscriber; a front end has one, or one for each kind of message. */
const TOPICS = 1000;

/** Version 3.0, no mechanism. The peer's version may be newer: it then speaks this one. */
function greeting(): Buffer {
  const bytes = Buffer.alloc(GREETING);
  bytes[0] = 0xff;
  bytes[9] = 0x7f;
  bytes[10] = 3;
  bytes.write("NULL", 12, "latin1");
  return bytes;
}

const isGreeting = (bytes: Buffer): boolean =>
  bytes[0] === 0xff &&
  (bytes[9]! & 1) === 1 &&
  bytes[10]! >= 3 &&
  bytes.toString("latin1", 12, 32) === "NULL".padEnd(20, "\0");

/** A command's body: its name, and what belongs to it. */
function command(name: string, ...rest: Uint8Array[]): Buffer {
  const body = Buffer.concat([Buffer.from(String.fromCharCode(name.length) + name), ...rest]);
  return framed([body], COMMAND);
}

/** The bytes of frames that are one message. */
function framed(frames: readonly Uint8Array[], flags = 0): Buffer {
  let size = 0;
  for (const { length } of frames) size += length + (length > 255 ? 9 : 2);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (let i = 0; i < frames.length; i++) {
    const frame = frames[i]!;
    const more = flags | (i < frames.length - 1 ? MORE : 0);
    if (frame.length > 255) {
      bytes[at] = more | LONG;
      bytes.writeBigUInt64BE(BigInt(frame.length), at + 1);
      at += 9;
    } else {
      bytes[at] = more;
      bytes[at + 1] = frame.length;
      at += 2;
    }
    bytes.set(frame, at);
    at += frame.length;
  }
  return bytes;
}

/** The properties that a READY command has. */
function properties(body: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at < body.length;) {
    const value = at + 1 + body[at]! + 4;
    const end = value + body.readUInt32BE(value - 4);
    found.set(body.toString("latin1", at + 1, value - 4).toLowerCase(), body.subarray(value, end));
    at = end;
  }
  return found;
}

function property(name: string, value: string): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(value.length);
  return Buffer.concat([
    Buffer.from(String.fromCharCode(name.length) + name),
    size,
    Buffer.from(value),
  ]);
}

/** One connection. Whatever is not the protocol ends it. */
class Peer {
  /** What a router calls it: its own name, or one made for it. */
  identity = Buffer.concat([Buffer.of(0), randomBytes(4)]);
  /** Messages that the system has not taken yet. */
  behind = 0;
  readonly #socket: Socket;
  readonly #listener: Listener;
  #stage: "greeting" | "ready" | "open" = "greeting";
  #chunks: Buffer[] = [];
  #length = 0;
  /** So many bytes must be there before anything can be read. */
  #needed = GREETING;
  #frames: Buffer[] = [];
  #size = 0;
  #written: Buffer[] = [];

  constructor(socket: Socket, listener: Listener) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => listener.lost(this));
    socket.write(greeting());
  }

  /** What is written in one turn leaves together. */
  write(bytes: Buffer): void {
    this.behind++;
    if (this.#written.push(bytes) === 1) process.nextTick(() => this.#flush());
  }

  #flush(): void {
    const written = this.#written;
    if (written.length === 0) return;
    this.#written = [];
    const bytes = written.length === 1 ? written[0]! : Buffer.concat(written);
    this.#socket.write(bytes, () => (this.behind -= written.length));
  }

  /** Ends the connection once it has taken nothing for so long. */
  limitStall(milliseconds: number): void {
    this.#socket.setTimeout(milliseconds, () => {
      if (this.behind > 0) this.#socket.destroy();
    });
  }

  /** Ends the connection at once. */
  drop(): void {
    this.#socket.destroy();
  }

  /** Resolves when the system has taken all that was written, or after `linger` milliseconds. */
  close(linger: number): Promise<void> {
    this.#flush();
    return new Promise((closed) => {
      this.#socket.end(closed);
      setTimeout(() => {
        this.#socket.destroy();
        closed();
      }, linger).unref();
    });
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    let read = 0;
    try {
      for (let next = this.#step(bytes, 0); next > read; next = this.#step(bytes, read))
        read = next;
    } catch {
      this.#socket.destroy();
    }
    const rest = read === 0 ? bytes : bytes.subarray(read);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  /** Reads one thing from `at`; returns where the next begins, or `at` where more bytes are needed. */
  #step(bytes: Buffer, at: number): number {
    const there = bytes.length - at;
    const needs = (size: number): boolean => {
      this.#needed = size;
      return there < size;
    };
    if (this.#stage === "greeting") {
      if (needs(GREETING)) return at;
      if (!isGreeting(bytes.subarray(at, at + GREETING))) throw new Error("no greeting");
      this.#stage = "ready";
      this.write(command("READY", property("Socket-Type", this.#listener.type)));
      return at + GREETING;
    }
    if (needs(2)) return at;
    const flags = bytes[at]!;
    const head = (flags & LONG) === 0 ? 2 : 9;
    if (needs(head)) return at;
    const size = head === 2 ? bytes[at + 1]! : Number(bytes.readBigUInt64BE(at + 1));
    if (size > this.#listener.limits.maxMessageSize) throw new Error("too large");
    if (needs(head + size)) return at;
    this.#needed = 2;
    const body = bytes.subarray(at + head, at + head + size);
    if ((flags & COMMAND) !== 0) this.#command(body);
    else this.#frame(body, (flags & MORE) !== 0);
    return at + head + size;
  }

  #command(body: Buffer): void {
    const name = body.toString("latin1", 1, 1 + body[0]!);
    const rest = body.subarray(1 + body[0]!);
    if (this.#stage === "ready") {
      if (name !== "READY") throw new Error("not ready");
      const own = properties(rest).get("identity");
      if (own !== undefined && own.length > 0) this.identity = Buffer.from(own);
      this.#stage = "open";
      this.#listener.joined(this);
    } else if (name === "PING") this.write(command("PONG", rest.subarray(2)));
    else if (name === "SUBSCRIBE") this.#listener.received(this, [Buffer.of(1, ...rest)]);
    else if (name === "CANCEL") this.#listener.received(this, [Buffer.of(0, ...rest)]);
  }

  #frame(body: Buffer, more: boolean): void {
    if (this.#stage !== "open") throw new Error("not ready");
    this.#frames.push(body);
    this.#size += body.length + FRAME;
    if (this.#size > this.#listener.limits.maxMessageSize) throw new Error("too large");
    if (more) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#size = 0;
    this.#listener.received(this, frames);
  }
}

/** A socket that others connect to. */
abstract class Listener implements FrameSocket {
  abstract readonly type: string;
  readonly limits: SocketLimits;
  closed = false;
  protected readonly peers = new Set<Peer>();
  readonly #server: Server;
  #messages: Uint8Array[][] = [];
  #reader: ((result: IteratorResult<Uint8Array[]>) => void) | undefined;

  constructor(limits: SocketLimits) {
    this.limits = limits;
    this.#server = createServer({ noDelay: true }, (socket) => void new Peer(socket, this));
  }

  /** At `ip` and a port, or at the path of a Unix socket, in the place of one that nobody uses any more. */
  async bind(place: { host: string; port: number } | { path: string }): Promise<void> {
    if ("path" in place) rmSync(place.path, { force: true });
    await new Promise<void>((bound, failed) => {
      this.#server.once("error", failed);
      this.#server.listen(place, bound);
    });
  }

  abstract send(frames: Uint8Array[]): Promise<void>;
  abstract received(peer: Peer, frames: Buffer[]): void;

  joined(peer: Peer): void {
    this.peers.add(peer);
  }

  lost(peer: Peer): void {
    this.peers.delete(peer);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.#server.close();
    this.#reader?.({ done: true, value: undefined });
    await Promise.all([...this.peers].map((peer) => peer.close(this.limits.linger)));
  }

  protected hand(frames: Uint8Array[]): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#messages.push(frames);
    else reader({ done: false, value: frames });
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array[]> {
    return {
      next: () =>
        new Promise((resolve) => {
          const value = this.closed ? undefined : this.#messages.shift();
          if (value !== undefined) resolve({ done: false, value });
          else if (this.closed) resolve({ done: true, value: undefined });
          else this.#reader = resolve;
        }),
    };
  }
}

/** Puts the sender's name before each message, and sends to whom the first frame names; to nobody where he has gone. */
export class RouterSocket extends Listener {
  readonly type: string = "ROUTER";
  readonly #byName = new Map<string, Peer>();

  override joined(peer: Peer): void {
    super.joined(peer);
    const name = peer.identity.toString("latin1");
    // A front end that has connected anew takes the place of what is left of its earlier connection.
    void this.#byName.get(name)?.close(0);
    this.#byName.set(name, peer);
  }

  override lost(peer: Peer): void {
    super.lost(peer);
    const name = peer.identity.toString("latin1");
    if (this.#byName.get(name) === peer) this.#byName.delete(name);
  }

  received(peer: Peer, frames: Buffer[]): void {
    this.hand([peer.identity, ...frames]);
  }

  async send([name, ...frames]: Uint8Array[]): Promise<void> {
    const to = Buffer.from(name ?? []).toString("latin1");
    this.#byName.get(to)?.write(framed(frames));
  }
}

/** Answers whoever asked, which is what a router does with all that stands before the question. */
export class ReplySocket extends RouterSocket {
  override readonly type = "REP";
}

/** Sends to all that subscribe. A topic that somebody is the first to name is received as a message. */
export class PublisherSocket extends Listener {
  readonly type = "XPUB";
  readonly #topics = new Map<Peer, Buffer[]>();

  override joined(peer: Peer): void {
    super.joined(peer);
    this.#topics.set(peer, []);
    peer.limitStall(this.limits.stall);
  }

  override lost(peer: Peer): void {
    super.lost(peer);
    this.#topics.delete(peer);
  }

  received(peer: Peer, [frame]: Buffer[]): void {
    const topics = this.#topics.get(peer);
    if (topics === undefined || frame === undefined || frame[0]! > 1) return;
    const topic = Buffer.from(frame.subarray(1));
    if (frame[0] === 1) {
      const isNew = [...this.#topics.values()].every((all) => !all.some((t) => t.equals(topic)));
      if (topics.push(topic) > TOPICS) return peer.drop();
      if (isNew) this.hand([Buffer.from(frame)]);
    } else {
      const at = topics.findIndex((each) => each.equals(topic));
      if (at >= 0) topics.splice(at, 1);
    }
  }

  /** Fails with EAGAIN, and sends to nobody, while one that subscribes is too far behind. */
  async send(frames: Uint8Array[]): Promise<void> {
    const first = Buffer.from(frames[0]!.buffer, frames[0]!.byteOffset, frames[0]!.byteLength);
    const to: Peer[] = [];
    for (const [peer, topics] of this.#topics) {
      if (!topics.some((topic) => topic.equals(first.subarray(0, topic.length)))) continue;
      if (peer.behind >= this.limits.behind) {
        throw Object.assign(new Error("a subscriber is behind"), { code: "EAGAIN" });
      }
      to.push(peer);
    }
    if (to.length === 0) return;
    const bytes = framed(frames);
    for (const peer of to) peer.write(bytes);
  }
}
