import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeMessage, Encoder } from "./message.js";
import { Signer } from "./connection.js";

const signer = new Signer("key");
const frames = (): Uint8Array[] =>
  new Encoder(signer).encode(
    {
      type: "stream",
      content: { text: "é", n: 3n },
      parent: undefined,
      buffers: [Buffer.from("b")],
    },
    [Buffer.from("who")],
  );

test("decodeMessage() reads what Encoder.encode() wrote", () => {
  const message = decodeMessage(frames(), signer);
  assert.equal(message.header.msg_type, "stream");
  assert.equal(message.header.version, "5.5");
  assert.deepEqual(message.content, { text: "é", n: "3" });
  assert.deepEqual(message.identities.map(String), ["who"]);
  assert.deepEqual(message.buffers.map(String), ["b"]);
  assert.deepEqual(message.parent, {});
});

test("decodeMessage() refuses a message that was changed, cut or signed with another key", () => {
  assert.throws(() => decodeMessage(frames(), new Signer("other")), /signature must match/);
  const changed = frames();
  changed[6] = Buffer.from("{}");
  assert.throws(() => decodeMessage(changed, signer), /signature must match/);
  assert.throws(() => decodeMessage(frames().slice(0, 5), signer), /needs 4 parts, got 2/);
  assert.throws(() => decodeMessage([Buffer.from("x")], signer), /no <IDS\|MSG> in 1 frames/);
});

test("Signer agrees with RFC 4231, test case 2", () => {
  const text = [Buffer.from("what do ya "), Buffer.from("want for nothing?")];
  const expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  assert.equal(new Signer("Jefe").sign(text), expected);
  assert.equal(new Signer("").sign(text), "");
  assert.throws(() => new Signer("k", "md5"), /scheme must be hmac-HASH, got md5/);
});
