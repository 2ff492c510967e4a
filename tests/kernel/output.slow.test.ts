import assert from "node:assert/strict";
import { test } from "node:test";
import { FrontEnd } from "./front-end.js";

test("a million log lines arrive, all of them, in order", async () => {
  const kernel = await FrontEnd.start({ language: "javascript" });
  try {
    const { text, reply } = await kernel.execute(
      "for (let i = 0; i < 1e6; i++) console.log('line ' + i)",
    );
    assert.equal(reply.status, "ok");
    let at = 0;
    for (let i = 0; i < 1e6; i++) {
      const line = `line ${i}\n`;
      if (!text.startsWith(line, at)) assert.fail(`line ${i} is missing`);
      at += line.length;
    }
    assert.equal(at, text.length);
  } finally {
    await kernel.close();
  }
});
