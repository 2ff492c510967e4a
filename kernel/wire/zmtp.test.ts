import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { Dealer, Request, Subscriber } from "zeromq";
import { until } from "../../tests/until.js";
import { PublisherSocket, ReplySocket, RouterSocket } from "./zmtp.js";

const limits = { maxMessageSize: 1 << 24, linger: 100, behind: 5, stall: 20_000 };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A socket that is bound, and where. */
async function bound<S extends RouterSocket | PublisherSocket>(
  socket: S,
): Promise<{ socket: S; address: string; port: number }> {
  const port = await freePort();
  await socket.bind({ host: "127.0.0.1", port });
  return { socket, address: `tcp://127.0.0.1:${port}`, port };
}

const closeAll = (...all: { close: () => unknown }[]): void =>
  all.forEach((each) => void each.close());

const receive = async (from: AsyncIterable<Uint8Array[]>): Promise<Uint8Array[]> => {
  const { value } = await from[Symbol.asyncIterator]().next();
  return value as Uint8Array[];
};
const text = (frames: Uint8Array[]): string[] =>
  frames.map((frame) => Buffer.from(frame).toString());

/** What a peer of version 3.0 says first. */
const greeting = Buffer.alloc(64);
greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3]);
greeting.write("NULL", 12);
const ready = Buffer.from("\x04\x06\x05READY");

test("RouterSocket speaks with libzmq's dealers: frames of all lengths, each answer to whom it is for", async (t) => {
  const { socket, address } = await bound(new RouterSocket(limits));
  const [a, b] = ["a", "b"].map((routingId) => new Dealer({ routingId, linger: 0 })) as [
    Dealer,
    Dealer,
  ];
  t.after(() => closeAll(a, b, socket));
  for (const dealer of [a, b]) dealer.connect(address);
  for (const length of [0, 1, 255, 256, 70_000, 3_000_000]) {
    const long = Buffer.alloc(length, "x");
    await a.send(["first", "", long, "last"]);
    const [name, ...frames] = await receive(socket);
    assert.equal(String(name), "a");
    assert.deepEqual(
      frames.map((frame) => frame.length),
      [5, 0, length, 4],
    );
    await socket.send([Buffer.from("b"), Buffer.from("not for a")]);
    await socket.send([Buffer.from("nobody"), Buffer.from("lost")]);
    await socket.send([name!, long, Buffer.from("answer")]);
    assert.deepEqual(
      (await a.receive()).map((frame) => frame.length),
      [length, 6],
    );
  }
  await b.send("hello");
  assert.deepEqual(text(await receive(socket)), ["b", "hello"]);
  assert.deepEqual(text(await b.receive()), ["not for a"]);
});

test("close() waits until the system has taken what was sent", async (t) => {
  const { socket, address } = await bound(new RouterSocket({ ...limits, linger: 20_000 }));
  const dealer = new Dealer({ routingId: "a", linger: 0 });
  t.after(() => dealer.close());
  dealer.connect(address);
  await dealer.send("x");
  await receive(socket);
  await socket.send([Buffer.from("a"), Buffer.alloc(8 << 20)]);
  await socket.close();
  assert.equal((await dealer.receive())[0]!.length, 8 << 20);
});

test("RouterSocket gives a name to who has none, and one that comes again its place", async (t) => {
  const { socket, address } = await bound(new RouterSocket(limits));
  t.after(() => void socket.close());
  const nameless = new Dealer({ linger: 0 });
  nameless.connect(address);
  await nameless.send("x");
  const [name] = await receive(socket);
  assert.equal(name!.length, 5);
  nameless.close();
  const first = new Dealer({ routingId: "same", linger: 0 });
  first.connect(address);
  await first.send("1");
  await receive(socket);
  const second = new Dealer({ routingId: "same", linger: 0 });
  t.after(() => [first, second].forEach((each) => each.close()));
  second.connect(address);
  await second.send("2");
  assert.deepEqual(text(await receive(socket)), ["same", "2"]);
  await socket.send([Buffer.from("same"), Buffer.from("to the second")]);
  assert.deepEqual(text(await second.receive()), ["to the second"]);
});

test("ReplySocket sends back to whoever asked", async (t) => {
  const { socket, address } = await bound(new ReplySocket(limits));
  const heart = new Request({ linger: 0 });
  t.after(() => closeAll(heart, socket));
  heart.connect(address);
  await heart.send("beat");
  await socket.send(await receive(socket));
  assert.deepEqual(text(await heart.receive()), ["beat"]);
});

test("PublisherSocket tells of a new topic once, sends to who subscribes, and waits for who is behind", async (t) => {
  const { socket, address, port } = await bound(new PublisherSocket(limits));
  const all = new Subscriber({ linger: 0 });
  const some = new Subscriber({ linger: 0 });
  t.after(() => closeAll(all, some, socket));
  await socket.send([Buffer.from("nobody hears this")]);
  all.connect(address);
  all.subscribe();
  assert.deepEqual([...(await receive(socket))[0]!], [1]);
  some.connect(address);
  some.subscribe("b");
  assert.deepEqual([...(await receive(socket))[0]!], [1, 98]);
  for (const topic of ["a1", "b1", "b2"]) await socket.send([Buffer.from(topic), Buffer.from("x")]);
  assert.deepEqual(text(await some.receive()), ["b1", "x"]);
  assert.deepEqual(text(await some.receive()), ["b2", "x"]);
  for (const topic of ["a1", "b1", "b2"]) assert.deepEqual(text(await all.receive()), [topic, "x"]);

  // One that subscribes to everything and reads nothing.
  const silent = connect(port, "127.0.0.1");
  silent.write(Buffer.concat([greeting, ready, Buffer.from("\x00\x02\x01c")]));
  silent.pause();
  await receive(socket);
  const large = Buffer.alloc(1 << 20);
  const sending = async (): Promise<number> => {
    for (let sent = 0; ; sent++) {
      await socket.send([Buffer.from("c"), large]);
      await new Promise((turn) => setImmediate(turn));
      assert.ok(sent < 1000);
    }
  };
  await assert.rejects(sending(), { code: "EAGAIN" });
  silent.destroy();
  const again = Buffer.from("c");
  let isFree = false;
  await until(() => {
    if (!isFree)
      void socket.send([again]).then(
        () => (isFree = true),
        () => undefined,
      );
    return isFree;
  }, "the connection that read nothing to be gone");
});

test("whoever does not speak the protocol, or sends too much, is disconnected", async (t) => {
  const { socket, port } = await bound(new RouterSocket({ ...limits, maxMessageSize: 1000 }));
  t.after(() => void socket.close());
  const long = (size: bigint): Buffer => {
    const head = Buffer.alloc(9);
    head[0] = 2;
    head.writeBigUInt64BE(size, 1);
    return head;
  };
  for (const sent of [
    Buffer.from("GET / HTTP/1.1\r\n\r\n".padEnd(64)),
    Buffer.concat([greeting, Buffer.from("\x00\x01x")]), // a message before READY
    Buffer.concat([greeting, ready, long(1001n)]),
    Buffer.concat([greeting, ready, Buffer.from("\x01\x00".repeat(4))]), // a message of nothing without end
    Buffer.concat([greeting, ready, long(1n << 63n)]),
    Buffer.concat([greeting, Buffer.from("\x04\x0b\x05READY\xff\x00\x00\x00\x00", "latin1")]),
  ]) {
    const peer = connect(port, "127.0.0.1");
    peer.resume();
    peer.on("error", () => undefined);
    peer.write(sent);
    await once(peer, "close");
  }
});

test("a subscriber of a thousand topics is disconnected at the next", async (t) => {
  const { socket, port } = await bound(new PublisherSocket(limits));
  t.after(() => void socket.close());
  const topic = (i: number) => Buffer.from(`\x00\x05\x01${String(i).padStart(4, "0")}`);
  const peer = connect(port, "127.0.0.1");
  peer.resume();
  peer.on("error", () => undefined);
  peer.write(Buffer.concat([greeting, ready]));
  for (let i = 0; i <= 1000; i++) peer.write(topic(i));
  await once(peer, "close");
});
