import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontEnd } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start({ language: "typescript" });
});
after(() => kernel.close());

interface Listed {
  name: string;
  group: string;
  kind: string;
  text: string;
}

let lines = 0;
async function list(): Promise<Listed[]> {
  const comm_id = `v${++lines}`;
  kernel.send("shell", "comm_open", { comm_id, target_name: "arpo-lab.values", data: {} });
  kernel.send("shell", "comm_msg", { comm_id, data: { method: "list" } });
  const said = await kernel.shown(
    (m) => m.header.msg_type === "comm_msg" && m.content.comm_id === comm_id,
  );
  return (said.content.data as { values: Listed[] }).values;
}

test("a session lists its values in a line each, without calling anything of theirs", async () => {
  assert.deepEqual(await list(), []);
  await kernel.execute(`
    const answer = 42;
    let text = "two\\nlines";
    const numbers = new Float32Array(6);
    const tensor = { shape: [2, 3], dtype: "float32" };
    const list = [1, 2, 3];
    function double(n: number) { return 2 * n; }
    class Forest { [Symbol.for("arpo-lab.summary")]() { return { group: "Trees", text: "3 trees" }; } }
    const forest = new Forest();
    const forests = [forest, forest];
    const touchy = { get boom(): number { throw new Error("touched"); } };
    const broken = { [Symbol.for("arpo-lab.summary")]() { throw new Error("no summary"); } };
    const plain = Object.create(null);`);
  const values = new Map((await list()).map(({ name, ...rest }) => [name, Object.values(rest)]));
  const expected: Record<string, string[]> = {
    answer: ["Variables", "number", "42"],
    text: ["Variables", "string", '"two\\nlines"'],
    numbers: ["Tensors", "Float32Array", "6 numbers"],
    tensor: ["Tensors", "Object", "float32 [2, 3]"],
    list: ["Variables", "Array", "3 elements"],
    double: ["Functions", "function", ""],
    Forest: ["Functions", "class", ""],
    forest: ["Trees", "Forest", "3 trees"],
    forests: ["Trees", "Forest[]", "2 of them"],
    touchy: ["Variables", "Object", "{ boom }"],
    broken: ["Variables", "?", "cannot be looked at: no summary"],
    plain: ["Variables", "object", ""],
  };
  for (const [name, summary] of Object.entries(expected)) {
    assert.deepEqual(values.get(name), summary, name);
  }
});

test("a session shows one of its values on request", async () => {
  const comm_id = `v${lines}`;
  kernel.send("shell", "comm_msg", { comm_id, data: { method: "show", name: "list" } });
  const shown = await kernel.shown((m) => m.header.msg_type === "display_data");
  assert.match(String((shown.content.data as Record<string, unknown>)["text/plain"]), /1, 2, 3/);
  kernel.send("shell", "comm_msg", { comm_id, data: { method: "show", name: "nobody" } });
  const error = await kernel.shown((m) => m.header.msg_type === "error");
  assert.match(String(error.content.evalue), /Cannot show nobody/);
});
