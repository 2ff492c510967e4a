import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { FakeHost } from "../../../tests/display/fake-host.js";
import { formatValue } from "../format.js";
import { figurePicture } from "../../../common/picture/picture.js";
import { packedLibrary } from "../../../common/picture/figure-html.js";
import { scaleOf } from "../../../common/picture/scale.js";

const line = (extra: object = {}) => ({
  data: [{ y: [1, 3, 2], name: "<loss>" }],
  layout: { title: "T & t", ...extra },
});
const shown = async (value: unknown): Promise<Record<string, string>> =>
  (await formatValue(value)) as Record<string, string>;
const html = async (value: unknown): Promise<string> => (await shown(value))["text/html"]!;

test("figureBundle() gives JSON, living HTML, a picture and text", async () => {
  const bundle = await shown({
    data: [{ type: "bar", y: new Float32Array([1, NaN]) }],
    layout: { title: { text: "Bars" } },
  });
  assert.deepEqual(Object.keys(bundle).sort(), [
    "application/vnd.plotly.v1+json",
    "image/svg+xml",
    "text/html",
    "text/plain",
  ]);
  assert.deepEqual(bundle["application/vnd.plotly.v1+json"], {
    data: [{ type: "bar", y: [1, null] }],
    layout: { title: { text: "Bars" } },
  });
  assert.equal(bundle["text/plain"], "Figure: Bars\n  bar, 2 points");
  assert.match(bundle["text/html"]!, /data-picture><svg/);
  assert.doesNotMatch(bundle["text/html"]!, /(?:src|href)=/);
});

test("figureBundle() escapes names and cannot end its own script", async () => {
  const page = await html({
    data: [{ y: [1], name: "</script><script>alert(1)" }, { y: [2] }],
    layout: { title: "<b>" },
  });
  assert.doesNotMatch(page, /<\/script><script>alert/);
  assert.doesNotMatch(page, /<b>/);
  const json = /data-figure>(.*?)<\/script>/s.exec(page)?.[1] ?? "";
  assert.equal(
    (JSON.parse(json) as { data: { name: string }[] }).data[0]?.name,
    "</script><script>alert(1)",
  );
});

test("figureBundle() draws no half figure: kinds it does not know stay text until plotly runs", async () => {
  const bundle = await shown({ data: [{ type: "pie", values: [1, 2] }, { y: [1] }], layout: {} });
  assert.equal("image/svg+xml" in bundle, false);
  assert.match(bundle["text/html"]!, /<pre>Figure\n {2}pie, 2 points/);
});

test("the library is sent with the first figure's cell, each time that cell runs", async () => {
  const host = new FakeHost();
  const carries = async (): Promise<boolean> =>
    (await html(line())).includes('class="arpo-plotly"');
  await host.within(async () => {
    let run = 0;
    const as = (cellId: string) => (host.identity = { ...host.identity, cellId, id: `${run++}` });
    as("a");
    assert.equal(await carries(), true);
    assert.equal(await carries(), false);
    as("b");
    assert.equal(await carries(), false);
    as("a");
    assert.equal(await carries(), true);
  });
  assert.equal(await carries(), true); // outside a kernel each figure stands alone
  assert.match(gunzipSync(Buffer.from(packedLibrary(), "base64")).toString(), /window\.Plotly/);
});

test("figurePicture() draws lines with gaps, points, bars beside and above each other, heat maps", () => {
  const gap = figurePicture({ data: [{ y: [1, null, 2, 3], mode: "lines" }], layout: {} });
  assert.match(gap!, /d="M[\d.]+ [\d.]+M[\d.]+ [\d.]+L/);
  const points = figurePicture({ data: [{ x: [1, 2], y: [1, 2], mode: "markers" }], layout: {} });
  assert.equal(points!.match(/<circle/g)?.length, 2);
  const bars = (barmode: string) =>
    figurePicture({
      data: [
        { type: "bar", x: ["a", "b"], y: [1, 2] },
        { type: "bar", x: ["a", "b"], y: [3, 4] },
      ],
      layout: { barmode },
    })!;
  const xs = (svg: string) =>
    new Set(
      [...svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="[\d.]+" height="(?!10")/g)].map(
        (m) => m[1],
      ),
    );
  assert.equal(xs(bars("group")).size, 4);
  assert.equal(xs(bars("stack")).size, 2);
  const heat = figurePicture({
    data: [
      {
        type: "heatmap",
        z: [
          [0, 1],
          [NaN, 3],
        ],
      },
    ],
    layout: {},
  })!;
  assert.equal(heat.match(/h[\d.]+v[\d.]+h-/g)?.length, 3);
  const histogram = figurePicture({ data: [{ type: "histogram", x: [1, 1, 2, 9] }], layout: {} })!;
  assert.equal(histogram.match(/<rect/g)?.length, 2);
});

test("figurePicture() stays small however many points there are", () => {
  const y = Float32Array.from({ length: 1_000_000 }, (_, i) => Math.sin(i));
  const svg = figurePicture({ data: [{ y }], layout: {} })!;
  assert.ok(svg.length < 60_000, `${svg.length} characters`);
});

test("figurePicture() survives what is empty, endless or odd", () => {
  const odd: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ y: [] }, {}],
    [{ y: [Infinity, NaN] }, {}],
    [{ y: [1e308, -1e308] }, {}],
    [{ y: [0, -1, 10] }, { yaxis: { type: "log" } }],
    [{ x: ["2026-01-01", "2026-02-01"], y: [1, 2] }, {}],
    [{ type: "bar", x: ["a"], y: [0] }, { width: 1e9 }],
    [{ type: "heatmap", z: [[1]] }, {}],
    [{ y: [1, 2], line: { color: '"><script>' } }, {}],
  ];
  for (const [trace, layout] of odd) {
    const svg = figurePicture({ data: [trace], layout });
    assert.match(svg ?? "", /^<svg[^]*<\/svg>$/);
    assert.doesNotMatch(svg ?? "", /NaN|Infinity|<script>/);
  }
  assert.equal(figurePicture({ data: [], layout: {} }), undefined);
});

test("figureBundle() gives plotly titles as it wants them", async () => {
  const bundle = await shown({
    data: [{ y: [1] }],
    layout: { title: "T", xaxis: { title: "x" }, other: { title: "o" } },
  });
  const { layout } = bundle["application/vnd.plotly.v1+json"] as unknown as { layout: unknown };
  assert.deepEqual(layout, {
    title: { text: "T" },
    xaxis: { title: { text: "x" } },
    other: { title: "o" },
  });
});

test("scaleOf() names round places, categories, dates and powers", () => {
  const labels = (values: unknown[], axis: Record<string, unknown> = {}) =>
    scaleOf(values, axis).ticks.map((t) => t.label);
  assert.deepEqual(labels([0, 10]), ["0", "2", "4", "6", "8", "10"]);
  assert.deepEqual(labels(["a", "b", "a"]), ["a", "b"]);
  assert.deepEqual(labels([1, 1000], { type: "log" }), ["1", "10", "100", "1000"]);
  assert.equal(labels(["2026-01-01", "2026-03-01"])[0], "2026-01-01");
  assert.equal(scaleOf([0, 4], { range: [0, 8] }).at(4), 0.5);
});
