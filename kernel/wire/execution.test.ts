import assert from "node:assert/strict";
import { test } from "node:test";
import { Failures } from "./execution.js";
import type { Message } from "./message.js";

const at = (date: string, session = "s"): Message =>
  ({ header: { date: `2026-01-01T00:00:0${date}Z`, session } }) as Message;

test("Failures.covers() what was sent before the reply could be known, by the sender's clock", () => {
  const failures = new Failures();
  const queued = at("5.000");
  const strangers = at("1.001", "other");
  failures.add(at("1.000"), 20.7, [queued, strangers]);
  assert.equal(failures.covers(queued), true, "it had arrived");
  assert.equal(failures.covers(at("1.000")), true, "sent together, arrived late");
  assert.equal(failures.covers(at("1.019")), true);
  assert.equal(failures.covers(at("1.020")), false, "sent in answer to the reply");
  assert.equal(failures.covers(strangers), false, "another front end's");
  assert.equal(failures.covers(at("x")), false);
});
