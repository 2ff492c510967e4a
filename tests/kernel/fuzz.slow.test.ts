import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import type { Json } from "../../kernel/wire/message.js";
import { type Channel, FrontEnd } from "./front-end.js";

const types = [
  "execute_request",
  "complete_request",
  "inspect_request",
  "is_complete_request",
  "history_request",
  "comm_open",
  "comm_msg",
  "comm_close",
  "comm_info_request",
  "debug_request",
  "input_reply",
  "interrupt_request",
  "kernel_info_request",
  "nonsense",
  "__proto__",
];
const odd: unknown[] = [
  null,
  0,
  -1,
  1e300,
  "",
  "\u0000",
  [],
  {},
  true,
  "a".repeat(1000),
  ["x"],
  { __proto__: 1 },
];
const fields = [
  "code",
  "cursor_pos",
  "silent",
  "user_expressions",
  "comm_id",
  "target_name",
  "data",
  "n",
  "session",
];

test("ten thousand malformed messages leave the kernel alive and unsigned ones unanswered", async () => {
  const kernel = await FrontEnd.start({ language: "javascript" });
  const random = Random.from(7).split("fuzz");
  const below = (n: number): number => random.integer(n);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const channel = (): Channel => pick(["shell", "control", "stdin"] as const);
  const unsigned = new Set<string>();
  try {
    for (let i = 0; i < 10_000; i++) {
      const content: Json = Object.fromEntries(
        Array.from({ length: below(4) }, () => [pick(fields), pick(odd)]),
      );
      const header: Json = { msg_id: `fuzz-${i}`, msg_type: pick(types), session: "s", date: "d" };
      switch (i % 5) {
        case 0: // random bytes
          await kernel.raw(
            channel(),
            Array.from({ length: below(8) + 1 }, () => randomBytes(below(200))),
          );
          break;
        case 1: // a wrong signature
          unsigned.add(header.msg_id as string);
          await kernel.raw(channel(), kernel.frames([header, {}, {}, content], false));
          break;
        case 2: {
          // parts missing or of the wrong kind, rightly signed
          const parts = [header, {}, {}, content].map((p) => (below(3) ? p : pick(odd))) as Json[];
          await kernel.raw(channel(), kernel.frames(parts.slice(0, below(5))));
          break;
        }
        case 3: // fields missing or of the wrong type, rightly signed
          if (below(2)) header[pick(["msg_id", "msg_type", "session", "date"])] = undefined;
          await kernel.raw(channel(), kernel.frames([header, {}, {}, content]));
          break;
        default: // right in everything but its content
          if (header.msg_type === "execute_request" && typeof content.code !== "string")
            content.code = "1";
          await kernel.raw(channel(), kernel.frames([header, {}, {}, content]));
      }
      if (i % 2500 === 0) await kernel.raw("shell", [Buffer.alloc(32 << 20, 65)]);
    }
    // Not even ZeroMQ's protocol.
    const socket = connect(kernel.connection.shell_port, "127.0.0.1");
    await new Promise((resolve) => socket.write(randomBytes(100_000), resolve));
    socket.destroy();
    await kernel.request("control", "interrupt_request");
    const { result, reply } = await kernel.execute("20 + 22");
    assert.equal(reply.status, "ok");
    assert.deepEqual(result, { "text/plain": "42" });
    const answered = kernel.iopub.filter((m) => unsigned.has(m.parent.msg_id ?? ""));
    assert.equal(answered.length, 0, "nothing unsigned had an effect");
    const streams = kernel.iopub.filter((m) => m.header.msg_type === "stream");
    const shown = streams.map(({ content }) => content["text"]);
    assert.deepEqual(shown, [], "nobody's cell shows what strangers send");
    assert.equal(kernel.replies.filter((id) => unsigned.has(id)).length, 0);
    assert.ok(kernel.replies.length > 1000, "signed requests were answered");
  } finally {
    await kernel.close();
  }
});
