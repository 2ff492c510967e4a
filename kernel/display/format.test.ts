import assert from "node:assert/strict";
import { test } from "node:test";
import { tf } from "../../src/tensor/tf.js";
import { FakeHost } from "../../tests/display/fake-host.js";
import { displaySymbol } from "./displayable.js";
import { formatValue } from "./format.js";

const bundle = async (value: unknown): Promise<Record<string, string>> =>
  (await formatValue(value)) as Record<string, string>;
const textOf = async (value: unknown): Promise<string | undefined> =>
  (await bundle(value))["text/plain"];

test("formatValue() shows nothing for undefined and something for null", async () => {
  assert.equal(formatValue(undefined), undefined);
  assert.equal(await textOf(null), "null");
});

test("formatValue() inspects what it knows nothing of", async () => {
  class Point {
    constructor(
      readonly x: number,
      readonly y: number,
    ) {}
  }
  assert.equal(await textOf(new Point(1, 2)), "Point { x: 1, y: 2 }");
  assert.equal(await textOf(10n), "10n");
  assert.equal(await textOf("a'b"), `"a'b"`);
  assert.equal(await textOf(Symbol("s")), "Symbol(s)");
  assert.equal(await textOf(new Set([1])), "Set(1) { 1 }");
  assert.equal(await textOf(new Date(0)), "1970-01-01T00:00:00.000Z");
  assert.match((await textOf(Promise.resolve(1)))!, /^Promise \{\s*1\s*\}$/);
  assert.equal(await textOf((a: number) => a), "[Function (anonymous)]");
  assert.equal(await textOf([1, [2, { a: 3 }]]), "[ 1, [ 2, { a: 3 } ] ]");
});

test("formatValue() asks the value first, on instances, functions and promises of bundles", async () => {
  const shown = { [displaySymbol]: () => ({ "text/html": "<i>x</i>", "text/plain": "x" }) };
  assert.deepEqual(await bundle(shown), { "text/html": "<i>x</i>", "text/plain": "x" });
  const later = { [displaySymbol]: async () => ({ "image/png": new Uint8Array([1, 2]) }) };
  const late = await bundle(later);
  assert.equal(late["image/png"], "AQI=");
  assert.match(late["text/plain"]!, /Jupyter\.display/);
  const callable = Object.assign(() => 1, { [displaySymbol]: () => ({ "text/markdown": "m" }) });
  assert.equal((await bundle(callable))["text/markdown"], "m");
});

test("formatValue() keeps JSON mimes objects and makes typed arrays JSON in them", async () => {
  const value = {
    [displaySymbol]: () => ({
      "application/vnd.x+json": { y: new Float32Array([1, NaN]) },
      "text/plain": "",
    }),
  };
  assert.deepEqual((await bundle(value))["application/vnd.x+json"], { y: [1, null] });
});

test("formatValue() never throws: a failing display method is named in the text", async () => {
  const value = {
    a: 1,
    [displaySymbol]() {
      throw new RangeError("off by one");
    },
  };
  assert.match((await textOf(value))!, /a: 1[^]*its display failed: RangeError: off by one/);
  const late = { [displaySymbol]: () => Promise.reject(new Error("later")) };
  assert.match((await textOf(late))!, /its display failed: Error: later/);
  const wrong = { [displaySymbol]: () => "text" as never };
  assert.match((await textOf(wrong))!, /must return a mime bundle, got string/);
});

test("formatValue() shows a tensor with shape, type, statistics, colours and values", async () => {
  const tensor = tf.tensor2d([
    [1, 2],
    [NaN, -3],
  ]);
  const { "text/plain": text, "text/html": html } = await bundle(tensor);
  assert.equal(
    text,
    "Tensor float32 [2, 2]  min -3  mean 0  max 2  std 2.1602  1 NaN\n[[1, 2],\n [NaN, -3]]",
  );
  assert.match(html!, /<svg[^>]*viewBox="0 0 2 2"/);
  assert.match(html!, /#ff00ff/);
  tensor.dispose();
  assert.equal(await textOf(tensor), "Tensor float32 [2, 2] (disposed)");
});

test("formatValue() leaves out the middle of a large tensor", async () => {
  const text = await textOf(tf.range(0, 10_000).reshape([100, 100]));
  assert.match(text!, /^Tensor float32 \[100, 100\]/);
  assert.match(text!, /\[0, 1, 2, …, 97, 98, 99\]/);
  assert.equal(text!.split("\n").length, 8);
});

test("formatValue() shows scalars, strings, booleans and empty tensors", async () => {
  assert.match((await textOf(tf.scalar(3)))!, /^Tensor float32 \[\] {2}min 3 .*\n3$/);
  assert.equal(await textOf(tf.tensor(["a", "b"])), 'Tensor string [2]\n["a", "b"]');
  assert.match((await textOf(tf.tensor1d([true, false])))!, /bool \[2\].*\n\[1, 0\]/);
  assert.equal(await textOf(tf.zeros([0, 3])), "Tensor float32 [0, 3]  empty\n[]");
});

test("formatValue() reads a tensor asynchronously where it must", async () => {
  const tensor = {
    shape: [1],
    dtype: "float32",
    size: 1,
    dataSync() {
      throw new Error("not here");
    },
    data: () => Promise.resolve(new Float32Array([5])),
  };
  assert.match((await textOf(tensor))!, /\[5\]$/);
});

test("formatValue() summarises typed arrays", async () => {
  const { "text/plain": text } = await bundle(new BigInt64Array([1n, 3n]));
  assert.equal(text, "BigInt64Array(2)  min 1  mean 2  max 3  std 1\n[1n, 3n]");
  assert.match((await bundle(new Float32Array(1e6)))["text/html"]!, /^<div>/);
});

test("formatValue() makes a table of records and escapes it", async () => {
  const rows = [
    { name: "<b>", n: 1 },
    { name: "y", n: 20, more: { a: 1 } },
  ];
  const { "text/plain": text, "text/html": html } = await bundle(rows);
  assert.equal(text, ["   name   n  more", "0  <b>    1", "1  y     20  { a: 1 }"].join("\n"));
  assert.match(html!, /&lt;b&gt;/);
  assert.doesNotMatch(html!, /<b>/);
});

test("formatValue() says how much of a long table is missing", async () => {
  const rows = Array.from({ length: 1000 }, (_, i) => ({ i }));
  const { "text/plain": text, "text/html": html } = await bundle(rows);
  assert.match(text!, /… 940 more rows$/);
  assert.match(html!, /940 more rows/);
  assert.ok(html!.length < 20_000);
});

test("formatValue() shows arrays of unlike objects as they are", async () => {
  assert.match((await textOf([{ a: 1 }, { b: 2 }, { c: 3 }]))!, /^\[ \{ a: 1 \}/);
  assert.match((await textOf([{ a: 1 }, 2]))!, /^\[ \{ a: 1 \}, 2 \]/);
});

test("formatValue() shows data frames with their index and types", async () => {
  const frame = {
    columns: ["x", "y"],
    index: ["r0", "r1"],
    values: [
      [1, "a"],
      [2, "b"],
    ],
    dtypes: ["int32", "string"],
    shape: [2, 2],
  };
  assert.equal(
    await textOf(frame),
    "    x  y\nr0  1  a\nr1  2  b\n2 rows × 2 columns: x int32, y string",
  );
  const series = { columns: ["s"], index: [0], values: [7], dtypes: ["int32"], shape: [1] };
  assert.match((await textOf(series))!, /^ {3}s\n0 {2}7/);
});

test("formatValue() recognises pictures by their bytes", async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]);
  assert.equal((await bundle(png))["image/png"], Buffer.from(png).toString("base64"));
  assert.ok("image/jpeg" in (await bundle(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))));
  assert.ok("image/gif" in (await bundle(Buffer.from("GIF89a"))));
  assert.ok("image/webp" in (await bundle(Buffer.from("RIFF0000WEBPVP8 "))));
  assert.equal(await textOf(Buffer.from("hi")), "<Buffer 68 69>");
});

test("formatValue() shows errors with causes, aggregated errors and fields", async () => {
  const error = Object.assign(
    new AggregateError([new Error("one"), new TypeError("two")], "both <failed>", {
      cause: new RangeError("root"),
    }),
    { code: "E_BOTH" },
  );
  const { "text/plain": text, "text/html": html } = await bundle(error);
  assert.match(text!, /^AggregateError: both <failed>\n/);
  assert.match(text!, /code: 'E_BOTH'/);
  assert.match(text!, /\[0\] Error: one[^]*\[1\] TypeError: two[^]*Caused by RangeError: root/);
  assert.doesNotMatch(text!, /node:internal/);
  assert.match(html!, /both &lt;failed&gt;/);
  error.cause = error;
  assert.match((await textOf(error))!, /Caused by AggregateError: both <failed> \(shown above\)/);
});

test("formatValue() names cells in the frames of an error inside a kernel", async () => {
  const text = await new FakeHost().within(() => textOf(new Error("x")));
  assert.equal(text, "Error: x\n    at cell 1, line 1:1");
});

test("formatValue() shows maps as tables and links only to the web", async () => {
  const { "text/plain": text, "text/html": html } = await bundle(new Map([["k", [1]]]));
  assert.equal(text, "Map(1) { 'k' => [ 1 ] }");
  assert.match(html!, /<td[^>]*>k<\/td>/);
  assert.match(
    (await bundle(new URL("https://a.b/?x=1&y")))["text/html"]!,
    /href="https:\/\/a\.b\/\?x=1&amp;y"/,
  );
  assert.equal("text/html" in (await bundle(new URL("javascript:alert(1)"))), false);
});

test("formatValue() survives hostile proxies", async () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error("get");
      },
      getPrototypeOf() {
        throw new Error("proto");
      },
    },
  );
  assert.equal(typeof (await textOf(hostile)), "string");
  assert.equal(typeof (await textOf([hostile])), "string");
});

test("formatValue() shows a table of arquero as a table", async () => {
  const rows = Array.from({ length: 70 }, (_, n) => [n, `name ${n}`]);
  const table = {
    columnNames: () => ["n", "name"],
    numRows: () => rows.length,
    numCols: () => 2,
    get: (column: string, row: number) => rows[row]![column === "n" ? 0 : 1],
  };
  const bundle = (await formatValue(table))!;
  assert.match(String(bundle["text/plain"]), /^ +n +name\n0 +0 +'?name 0/);
  assert.match(String(bundle["text/plain"]), /… 10 more rows, 70 rows × 2 columns$/);
  assert.match(String(bundle["text/html"]), /<table/);
});

test("formatValue() shows what a document draws, with outerHTML or as text", async () => {
  const plot = { nodeName: "svg", outerHTML: "<svg><path/></svg>" };
  assert.equal((await formatValue(plot))!["text/html"], "<svg><path/></svg>");
  const drawn = { nodeName: "SVG", toString: () => '<svg xmlns="x"></svg>' };
  assert.equal((await formatValue(drawn))!["image/svg+xml"], '<svg xmlns="x"></svg>');
  const other = { nodeName: "svg", toString: () => "not a drawing" };
  assert.deepEqual(Object.keys((await formatValue(other))!), ["text/plain"]);
});
