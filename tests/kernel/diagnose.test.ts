import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { diagnoseTarget, type DiagnoseAnswer } from "../../kernel/contract/diagnose.js";
import { FrontEnd, held } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start({ language: "typescript" });
});
after(() => kernel.close());

/** What the kernel says of a text beside other cells: each place as the text there, and the message. */
async function faults(source: string, ...others: string[]): Promise<[string, string][]> {
  const cells = [source, ...others].map((text, i) => ({ id: `c${i}`, source: text }));
  const said = await kernel.ask(diagnoseTarget, { cells, of: "c0" });
  assert.equal(said["error"], undefined);
  return (said as unknown as DiagnoseAnswer).diagnostics.map(({ start, length, message }) => [
    source.slice(start, start + length),
    message,
  ]);
}

test("a text that is being written gets the errors that running it would give", async () => {
  await kernel.execute("const lengths: number[] = [1, 2];", {});
  assert.deepEqual(await faults("lengths.map((n) => n * 2)"), []);
  const [[place, message] = ["", ""], ...rest] = await faults(
    "const text: string = lengths[0]! * 2;",
  );
  assert.deepEqual([place, rest.length], ["text", 0]);
  assert.match(message, /number.*string/);
  const ran = await kernel.execute("const text: string = lengths[0]! * 2;", {});
  assert.match(JSON.stringify(ran), new RegExp(message.slice(0, 20)));
  assert.deepEqual((await faults("const half = (1 +"))[0]?.[1], "Expression expected.");
  assert.deepEqual(await faults("lenghts"), [
    ["lenghts", "Cannot find name 'lenghts'. Did you mean 'lengths'?"],
  ]);
});

test("what another cell declares is no error before that cell has run", async () => {
  const reads = "area(side) + unit.length + deep + renamed";
  assert.equal((await faults(reads)).length, 5);
  const declares = [
    "function area(n: number) { return n * n; }",
    'const { side, inner: { deep } } = { side: 3, inner: { deep: 1 } }; import { sep as renamed } from "node:path";',
    "%%time\nlet [unit] = ['m'];",
  ];
  assert.deepEqual(await faults(reads, ...declares), []);
  assert.deepEqual(
    await faults(reads, "{ const side = 1; }", ...declares.slice(0, 1)).then((all) =>
      all.map(([name]) => name),
    ),
    ["side", "unit", "deep", "renamed"],
  );
  assert.deepEqual(
    await faults("area('a')", declares[0]!),
    [],
    "of what has not run no type is known",
  );
});

test("magics, questions and text have their own errors or none, and nothing runs", async () => {
  assert.match((await faults("%%tiem\n1"))[0]?.[1] ?? "", /%%tiem/);
  assert.deepEqual(await faults("?lengths"), []);
  assert.deepEqual(await faults("%%html\n<p>not: code"), []);
  assert.deepEqual(await faults("%%nocheck\nconst n: string = 1"), []);
  assert.deepEqual(await faults("throw new Error('ran')"), []);
  const deep = `${"(".repeat(5000)}1${")".repeat(5000)}`;
  assert.equal((await faults(deep)).length, 1);
  assert.deepEqual(
    (await faults("missing", deep)).map(([name]) => name),
    ["missing"],
  );
});

test("the kernel answers while a cell runs, and says what is wrong with a question", async () => {
  const running = kernel.start(held);
  await kernel.begun(running.id);
  assert.equal((await faults("const n: number = ''")).length, 1);
  kernel.release();
  await running.finished;
  const refused = async (question: Record<string, unknown>): Promise<string> =>
    String((await kernel.ask(diagnoseTarget, question))["error"]);
  assert.match(
    await refused({ cells: "all", of: "a" }),
    /^Cannot diagnose a cell: cells must be a list/,
  );
  assert.match(
    await refused({ cells: [{ id: "a", source: "" }], of: "b" }),
    /of must be the id of one of the cells, got b/,
  );
});
