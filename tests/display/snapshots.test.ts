// What values look like, kept as files: a change to a picture or a table shows in review. To accept
// one: ARPO_LAB_SNAPSHOTS=write npm test -- tests/display
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { figurePicture } from "../../common/picture/picture.js";
import { formatValue } from "../../kernel/display/format.js";
import { markdownHtml } from "../../kernel/notebook/html/markdown.js";
import { Random } from "../../src/base/random/random.js";
import { tf } from "../../src/tensor/tf.js";

const folder = fileURLToPath(new URL("../../../tests/display/snapshots/", import.meta.url));
const write = process.env["ARPO_LAB_SNAPSHOTS"] === "write";
if (write) mkdirSync(folder, { recursive: true });

const stream = Random.from(7);
const noise = (n: number): Float32Array => Float32Array.from({ length: n }, () => stream.normal());
const show = async (value: unknown, mime: string): Promise<string> =>
  String((await formatValue(value))?.[mime]);
const walk = Array.from({ length: 80 }, (_, i) => Math.round(1000 * Math.sin(i / 9) * i) / 1000);

const pictures: Record<string, Parameters<typeof figurePicture>[0]> = {
  lines: {
    data: [
      { y: walk, name: "reward" },
      { y: walk.map((y, i) => (i % 20 < 3 ? null : y / 2)), name: "with gaps", fill: "tozeroy" },
      { x: [10, 30, 70], y: [20, -30, 40], mode: "markers", name: "events" },
    ],
    layout: { title: "A run", xaxis: { title: "step" }, yaxis: { title: { text: "reward" } } },
  },
  bars: {
    data: [
      { type: "bar", x: ["a", "b", "c"], y: [1, 2, 3], name: "one" },
      { type: "bar", x: ["a", "b", "c"], y: [2, -1, 1], name: "two" },
    ],
    layout: {},
  },
  stacked: {
    data: [
      { type: "bar", x: [1, 2], y: [1, 2] },
      { type: "bar", x: [1, 2], y: [2, 1] },
    ],
    layout: { barmode: "stack", showlegend: false },
  },
  heatmap: {
    data: [
      {
        type: "heatmap",
        z: [
          [0, 1, 2],
          [3, 4, NaN],
        ],
      },
    ],
    layout: { height: 200 },
  },
  logarithmic: { data: [{ y: [1, 10, 1000, 100] }], layout: { yaxis: { type: "log" } } },
  dates: { data: [{ x: ["2026-01-01", "2026-01-11", "2026-02-01"], y: [1, 3, 2] }], layout: {} },
};

const made: Record<string, () => Promise<string> | string> = {
  "tensor.html": () => show(tf.tensor(noise(600)).reshape([12, 50]), "text/html"),
  "tensor.txt": () => show(tf.range(0, 1000).reshape([10, 10, 10]), "text/plain"),
  "broken-tensor.html": () => show(tf.tensor([1, NaN, Infinity, -2]), "text/html"),
  "typed-array.html": () => show(noise(500), "text/html"),
  "records.html": () =>
    show(
      [
        { text: "<b>", entropy: 2.31 },
        { text: "x", entropy: 1e-9, extra: [1] },
      ],
      "text/html",
    ),
  "records.txt": () =>
    show(
      walk.map((y, step) => ({ step, y })),
      "text/plain",
    ),
  "map.html": () =>
    show(
      new Map<unknown, unknown>([
        ["k", { a: 1 }],
        [2, "v"],
      ]),
      "text/html",
    ),
  "markdown.html": () =>
    markdownHtml(
      "# T\n\n- $H = -\\sum_i p_i \\log p_i$\n\n> <i onclick=x>q</i>\n\n```py\ndef f(): return 1 # one\n```\n",
    ),
};
for (const [name, figure] of Object.entries(pictures))
  made[`${name}.svg`] = () => figurePicture(figure) ?? "";

for (const [name, make] of Object.entries(made)) {
  test(`snapshot ${name}`, async () => {
    const text = `${await make()}\n`;
    const path = join(folder, name);
    if (write) writeFileSync(path, text);
    assert.equal(text, readFileSync(path, "utf8"));
  });
}

test("every snapshot has a value that makes it", () => {
  assert.ok(existsSync(folder));
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(made).sort());
});
