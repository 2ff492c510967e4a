import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeSocket, encodeSocket, type Frames, V1 } from "./codec.js";

const text = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const message = (...buffers: Buffer[]): Frames => ({
  channel: "shell",
  header: text({ msg_id: "a", msg_type: "t" }),
  parent: text({}),
  metadata: text({ m: 1 }),
  content: text({ text: "é" }),
  buffers,
});

for (const protocol of ["", V1]) {
  for (const buffers of [[], [Buffer.from([1, 2, 3]), Buffer.alloc(0), Buffer.from([4])]]) {
    test(`decodeSocket() undoes encodeSocket(), ${protocol || "JSON"}, ${buffers.length} buffers`, () => {
      const sent = encodeSocket(protocol, message(...buffers));
      const binary = typeof sent !== "string";
      assert.equal(binary, protocol === V1 || buffers.length > 0);
      const got = decodeSocket(protocol, Buffer.from(sent as string), binary);
      assert.equal(got.channel, "shell");
      assert.deepEqual(JSON.parse(Buffer.from(got.content).toString()), { text: "é" });
      assert.deepEqual(JSON.parse(Buffer.from(got.metadata).toString()), { m: 1 });
      assert.deepEqual(
        got.buffers.map((b) => [...b]),
        buffers.map((b) => [...b]),
      );
    });
  }
}

test("decodeSocket() refuses what is no message", () => {
  const huge = Buffer.alloc(64);
  huge.writeBigUInt64LE(2n ** 60n, 0);
  const outside = Buffer.alloc(64);
  outside.writeBigUInt64LE(6n, 0);
  for (let i = 1; i < 7; i++) outside.writeBigUInt64LE(BigInt(i * 1000), 8 * i);
  for (const data of [Buffer.alloc(0), Buffer.alloc(8), huge, outside]) {
    assert.throws(() => decodeSocket(V1, data, true), SyntaxError);
  }
  for (const data of [Buffer.alloc(0), Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])]) {
    assert.throws(() => decodeSocket("", data, true), SyntaxError);
  }
  for (const json of ["", "null", "[]", '{"channel":"nowhere"}', '{"header":{}}', '{"header":7}']) {
    assert.throws(() => decodeSocket("", Buffer.from(json), false), SyntaxError);
  }
});
