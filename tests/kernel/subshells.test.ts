import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontEnd, held } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start();
});
after(() => kernel.close());

const ask = async (type: string, content = {}) =>
  (await kernel.request("control", `${type}_subshell_request`, content)).content;

test("subshells are made, listed and deleted, and an unknown one is refused", async () => {
  const made = String((await ask("create"))["subshell_id"]);
  assert.deepEqual(await ask("list"), { status: "ok", subshell_id: [made] });
  kernel.subshell = "none";
  try {
    for (const type of ["execute_request", "kernel_info_request", "complete_request"]) {
      const { content } = await kernel.request("shell", type, { code: "1" });
      assert.equal(content["status"], "error", type);
      assert.equal(
        content["evalue"],
        'Cannot use subshell "none": create_subshell_request makes one',
      );
    }
  } finally {
    kernel.subshell = undefined;
  }
  assert.deepEqual(await ask("delete", { subshell_id: made }), { status: "ok" });
  const again = await ask("delete", { subshell_id: made });
  assert.equal(again["ename"], "SubshellError");
  assert.deepEqual((await ask("list"))["subshell_id"], []);
});

test("a subshell answers while a cell runs; a cell on it waits, and says so", async () => {
  const made = String((await ask("create"))["subshell_id"]);
  const running = kernel.start(held);
  await kernel.begun(running.id);
  kernel.subshell = made;
  try {
    const info = await kernel.request("shell", "kernel_info_request");
    assert.equal(info.content["protocol_version"], "5.5");
    assert.equal(info.parent.subshell_id, made);
    const found = await kernel.request("shell", "complete_request", {
      code: "Math.fl",
      cursor_pos: 7,
    });
    assert.deepEqual(found.content["matches"], ["floor"]);
    const waiting = kernel.start("6 * 7");
    await kernel.shown(
      ({ parent, content }) =>
        parent.msg_id === waiting.id && /Waits for the cell/.test(String(content["text"])),
    );
    // The comm that lets the cell go comes on the subshell too.
    kernel.release();
    assert.equal((await running.finished).reply["status"], "ok");
    assert.deepEqual((await waiting.finished).result, { "text/plain": "42" });
    const next = await kernel.execute("43");
    assert.equal(next.text, "", "nothing runs, nothing waits");
  } finally {
    kernel.subshell = undefined;
  }
});
