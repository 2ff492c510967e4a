import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { curveKeyPair, Dealer, Request, Subscriber } from "zeromq";
import { endpoint, readConnection } from "../../kernel/wire/connection.js";
import { temporaryFolder } from "../temporary.js";
import { FrontEnd, keysOf } from "./front-end.js";

test("a kernel with keys encrypts all five sockets, and nobody without them hears or is heard", async (t) => {
  const kernel = await FrontEnd.start({ language: "javascript", curve: true });
  t.after(() => kernel.close());
  assert.ok((await kernel.beat()) >= 0);
  const { connection } = kernel;
  const own = keysOf(connection);
  const other = curveKeyPair();
  // Without keys; with keys of another kernel; with this kernel's public key taken for another's.
  for (const keys of [
    {},
    {
      curveServerKey: other.publicKey,
      curvePublicKey: other.publicKey,
      curveSecretKey: other.secretKey,
    },
  ]) {
    const options = { ...keys, linger: 0, receiveTimeout: 700 };
    const subscriber = new Subscriber(options);
    subscriber.connect(endpoint(connection, connection.iopub_port));
    subscriber.subscribe();
    for (const port of ["shell_port", "control_port", "stdin_port"] as const) {
      const dealer = new Dealer(options);
      dealer.connect(endpoint(connection, connection[port]));
      await dealer.send(kernel.frames([{ msg_id: "m", msg_type: "kernel_info_request" }, {}, {}, {}]) as Buffer[]); // prettier-ignore
      await assert.rejects(dealer.receive(), { code: "EAGAIN" }, port);
      dealer.close();
    }
    const heart = new Request(options);
    heart.connect(endpoint(connection, connection.hb_port));
    await heart.send("beat");
    await assert.rejects(heart.receive(), { code: "EAGAIN" });
    heart.close();
    await kernel.execute("console.log('secret')");
    await assert.rejects(subscriber.receive(), { code: "EAGAIN" });
    subscriber.close();
  }
  const heart = new Request({ ...own, linger: 0, receiveTimeout: 20_000 });
  heart.connect(endpoint(connection, connection.hb_port));
  await heart.send("beat");
  assert.equal(String((await heart.receive())[0]), "beat");
  heart.close();
  assert.deepEqual((await kernel.execute("6 * 7")).result, { "text/plain": "42" });
});

test("half a pair of keys, or no key, is refused by name", () => {
  const { publicKey, secretKey } = curveKeyPair();
  const file = join(temporaryFolder("connection"), "connection.json");
  const ports = { shell_port: 1, iopub_port: 2, stdin_port: 3, control_port: 4, hb_port: 5 };
  for (const [keys, name] of [
    [{ curve_publickey: publicKey }, "curve_publickey"],
    [{ curve_secretkey: secretKey }, "curve_publickey"],
    [{ curve_publickey: publicKey, curve_secretkey: "x" }, "curve_secretkey"],
  ] as const) {
    writeFileSync(file, JSON.stringify({ ...ports, ...keys }));
    assert.throws(
      () => readConnection(file),
      new RegExp(`${name} must be a key of 40 characters beside its pair`),
    );
  }
});
