import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFigure } from "../../../kernel/display/figure/figure.js";
import { tf } from "../../tensor/tf.js";
import {
  concat,
  DataFrame,
  dateRange,
  getDummies,
  LabelEncoder,
  merge,
  MinMaxScaler,
  Series,
  toDateTime,
} from "./danfo.js";
import { readCSV, readJSON, toCSV, toJSON } from "./files.js";
import { toFrame } from "./to-frame.js";
import { toRows } from "./to-rows.js";

const folder = mkdtempSync(join(tmpdir(), "arpo-lab-frame-"));
after(() => rmSync(folder, { recursive: true }));

const runs = () =>
  new DataFrame([
    { algorithm: "grpo", seed: 1, reward: 0.25 },
    { algorithm: "arpo", seed: 1, reward: 0.5 },
    { algorithm: "arpo", seed: 2, reward: 1 },
    { algorithm: "grpo", seed: 2, reward: 0.75 },
  ]);

test("frames: head, tail, columns, loc, iloc, query and sortValues", () => {
  const frame = runs();
  assert.deepEqual(frame.shape, [4, 3]);
  assert.deepEqual(frame.head(1).values, [["grpo", 1, 0.25]]);
  assert.deepEqual(frame.tail(1).values, [["grpo", 2, 0.75]]);
  assert.deepEqual(frame.column("reward").values, [0.25, 0.5, 1, 0.75]);
  assert.deepEqual(frame.loc({ columns: ["seed"] }).values, [[1], [1], [2], [2]]);
  assert.deepEqual(frame.iloc({ rows: ["1:3"], columns: [0] }).values, [["arpo"], ["arpo"]]);
  const good = frame.query(frame.column("reward").gt(0.5).and(frame.column("seed").eq(2)));
  assert.deepEqual(good.index, [2, 3]);
  const sorted = frame.sortValues("reward", { ascending: false });
  assert.deepEqual(sorted.column("reward").values, [1, 0.75, 0.5, 0.25]);
});

test("frames: groupby with agg, merge, concat, addColumn, apply and dropNa", () => {
  const frame = runs();
  const means = frame.groupby(["algorithm"]).agg({ reward: "mean", seed: "count" });
  assert.deepEqual(means.values, [
    ["grpo", 0.5, 2],
    ["arpo", 0.75, 2],
  ]);
  assert.deepEqual(frame.groupby(["algorithm"]).col(["reward"]).std().values[1], [
    "arpo",
    Math.sqrt(0.125),
  ]);
  const names = new DataFrame({ algorithm: ["arpo", "grpo"], year: [2025, 2024] });
  const merged = merge({ left: frame, right: names, on: ["algorithm"], how: "left" });
  assert.deepEqual(
    merged.values.map((row) => (row as unknown[]).join(" ")),
    ["grpo 1 0.25 2024", "grpo 2 0.75 2024", "arpo 1 0.5 2025", "arpo 2 1 2025"],
  );
  assert.deepEqual(concat({ dfList: [frame, frame], axis: 0 }).shape, [8, 3]);
  const twice = frame.addColumn("twice", frame.column("reward").mul(2));
  assert.deepEqual(twice.column("twice").values, [0.5, 1, 2, 1.5]);
  const applied = frame.column("algorithm").apply((name: string) => name.toUpperCase());
  assert.equal(applied.values[1], "ARPO");
  const holes = new DataFrame([
    [1, 2],
    [null, 4],
  ]);
  assert.deepEqual(holes.dropNa().values, [[1, 2]]);
  assert.deepEqual(holes.fillNa(0).values, [
    [1, 2],
    [0, 4],
  ]);
});

test("frames: describe() leaves missing values out", () => {
  const frame = new DataFrame({ a: [1, 3, null, 5], b: ["x", "y", "x", "y"] });
  const described = frame.describe();
  assert.deepEqual(described.index, ["count", "mean", "std", "min", "median", "max", "variance"]);
  assert.deepEqual(described.column("a").values, [3, 3, 2, 1, 3, 5, 4]);
});

test("frames: samples are drawn by their seed", async () => {
  const frame = new DataFrame({ n: Array.from({ length: 50 }, (_, i) => i) });
  const drawn = await frame.sample(10, { seed: 3 });
  assert.equal(new Set<unknown>(drawn.column("n").values).size, 10);
  assert.deepEqual(drawn.values, (await frame.sample(10, { seed: 3 })).values);
  assert.notDeepEqual(drawn.values, (await frame.sample(10, { seed: 4 })).values);
});

test("frames: dates, text, encoders and scalers", () => {
  const days = toDateTime(new Series(["2025-01-31", "2025-02-01"]));
  assert.deepEqual(days.month().values, [0, 1]);
  assert.equal(dateRange({ start: "2025-01-01", end: "2025-01-05", freq: "D" }).length, 5);
  assert.deepEqual(new Series(["a b", "c"]).str.len().values, [3, 1]);
  assert.deepEqual(getDummies(new Series(["x", "y", "x"])).shape, [3, 2]);
  assert.deepEqual(new LabelEncoder().fit(["b", "a", "b"]).transform(["a", "b"]), [1, 0]);
  const scaled = new MinMaxScaler().fitTransform(new DataFrame([[0], [5], [10]]));
  assert.deepEqual(scaled.values, [[0], [0.5], [1]]);
});

test("frames compute on this package's tensors, and leave none behind", () => {
  const frame = new DataFrame({ a: [1, 2], b: [3, 4] });
  const before = tf.memory().numTensors;
  assert.deepEqual(frame.add(1).values, [
    [2, 4],
    [3, 5],
  ]);
  assert.deepEqual(frame.gt(2).values, [
    [false, true],
    [false, true],
  ]);
  assert.equal(frame.column("b").argMax(), 1);
  assert.deepEqual(frame.sum({ axis: 0 }).values, [3, 7]);
  assert.equal(tf.memory().numTensors, before);
  const { tensor } = frame as { tensor: typeof tf.Tensor.prototype };
  assert.ok(tensor instanceof tf.Tensor);
  assert.deepEqual(new DataFrame(tensor).values, frame.values);
  tensor.dispose();
});

test("frames: CSV and JSON go to files and come back, text with commas and lines too", async () => {
  const frame = new DataFrame([
    { text: 'one, "two"\nthree', n: 1, ok: true },
    { text: "four", n: 2.5, ok: false },
  ]);
  const csv = join(folder, "a.csv");
  assert.equal(toCSV(frame, { filePath: csv }), frame.toCSV());
  assert.deepEqual((await readCSV(csv)).values, frame.values);
  const json = join(folder, "a.json");
  assert.deepEqual(toJSON(frame, { filePath: json }), frame.toJSON());
  assert.deepEqual((await readJSON(json)).values, frame.values);
  writeFileSync(join(folder, "b.csv"), "\ufeffx;y\n1;\n3;4\n\n");
  const other = await readCSV(join(folder, "b.csv"), { delimiter: ";" });
  assert.deepEqual(
    [other.columns, other.values],
    [
      ["x", "y"],
      [
        [1, null],
        [3, 4],
      ],
    ],
  );
  assert.equal(toCSV(frame.column("n")), "n\n1\n2.5\n");

  const server = createServer((request, response) => {
    if (request.url !== "/a.csv") response.statusCode = 404;
    response.end("a,b\n1,2\n");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    assert.deepEqual((await readCSV(`${address}/a.csv`)).values, [[1, 2]]);
    await assert.rejects(readCSV(`${address}/b.csv`), /must answer, got status 404/);
  } finally {
    server.close();
  }
});

test("frames: what cannot be read says so in one sentence", async () => {
  writeFileSync(join(folder, "empty.csv"), "a,b\n");
  await assert.rejects(readCSV(join(folder, "empty.csv")), /must hold a row of values, got none/);
  writeFileSync(join(folder, "wrong.csv"), "a,b\n1,2,3\n");
  await assert.rejects(readCSV(join(folder, "wrong.csv")), /must be CSV, got Too many fields/);
  await assert.rejects(readCSV(join(folder, "absent.csv")), /ENOENT/);
  assert.throws(() => runs().plot().table(), /^Error: Cannot plot a table: a frame is one already/);
});

test("frames: every plot but the table is a figure that a cell shows", () => {
  const frame = runs();
  for (const kind of ["line", "bar", "scatter", "hist", "box", "violin"] as const) {
    const figure = frame.plot()[kind]({
      config: { columns: ["reward", "seed"] },
      layout: { title: "runs" },
    });
    assert.ok(isFigure(figure), kind);
    assert.ok(figure.data.length > 0, kind);
    assert.equal(figure.layout["title"], "runs", kind);
  }
  const pie = frame.plot().pie({ config: { values: "reward", labels: "algorithm" } });
  assert.equal(pie.data[0]!["type"], "pie");
  const line = new Series([1, 2, 4]).plot().line();
  assert.deepEqual(line.data[0]!["y"], [1, 2, 4]);
  const against = frame.plot("unused").scatter({ config: { x: "seed", y: "reward" } });
  assert.deepEqual(against.data[0]!["x"], [1, 1, 2, 2]);
});

test("toFrame() gives a frame of any value of the toolkit, and of another danfojs's frame", () => {
  const frame = toFrame([{ step: 1, critic: { score: 0.5 } }, { step: 2 }]);
  assert.ok(frame instanceof DataFrame);
  assert.deepEqual(frame.columns, ["step", "critic.score"]);
  assert.deepEqual(frame.values, [
    [1, 0.5],
    [2, NaN],
  ]);
  assert.equal(toFrame(frame), frame);
  // What danfojs and danfojs-node share, whatever their version.
  const theirs = {
    ...{ columns: ["a", "b"], index: [0, 1], dtypes: ["int32", "string"], shape: [2, 2] },
    values: [
      [1, "x"],
      [null, "y"],
    ],
  };
  assert.deepEqual(toRows(theirs), [
    { a: 1, b: "x" },
    { a: NaN, b: "y" },
  ]);
  assert.ok(toFrame(theirs) instanceof DataFrame);
  assert.deepEqual(toRows(new Series([1, 2])), [{ "0": 1 }, { "0": 2 }]);
});
