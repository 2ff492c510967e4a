import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeHtml } from "./escape.js";
import type { FigureLike } from "./figure-like.js";
import { figurePicture } from "./picture.js";

const draw = (trace: Record<string, unknown>, layout: Record<string, unknown> = {}) =>
  figurePicture({ data: [trace], layout })!;
/** The cells of a heat map as colour and left upper corner. */
const cells = (svg: string) =>
  [...svg.matchAll(/<path d="((?:M[\d. ]+h[\d.]+v[\d.]+h-[\d.]+z)+)" fill="(#\w+)"/g)].flatMap(
    ([, d, colour]) =>
      [...d!.matchAll(/M([\d.]+) ([\d.]+)h/g)].map(([, x, y]) => ({
        ...{ colour: colour!, x: Number(x), y: Number(y) },
      })),
  );
const blackToWhite = [
  [0, "#000000"],
  [1, "#ffffff"],
];

test("figurePicture() colours a heat map by its own scale and ends", () => {
  const heat = { type: "heatmap", z: [[0, 5, 10]], colorscale: blackToWhite, showscale: false };
  assert.deepEqual(
    cells(draw(heat)).map(({ colour }) => colour),
    ["#000000", "#858585", "#ffffff"],
  );
  const ends = cells(draw({ ...heat, zmin: -10, zmax: 10 }));
  assert.deepEqual(
    ends.map(({ colour }) => colour),
    ["#858585", "#bcbcbc", "#ffffff"],
  );
});

test("figurePicture() leaves the gaps of a heat map, whether NaN or null", () => {
  const z = [[1, NaN, null, 2]];
  assert.equal(cells(draw({ type: "heatmap", z, showscale: false })).length, 2);
});

test("figurePicture() draws a reversed axis the other way round", () => {
  const heat = { type: "heatmap", z: [[0], [10]], colorscale: blackToWhite, showscale: false };
  const [black, white] = cells(draw(heat));
  assert.ok(black!.y > white!.y, "the first row is at the bottom");
  const turned = cells(draw(heat, { yaxis: { autorange: "reversed" } }));
  assert.ok(turned[0]!.y < turned[1]!.y, "the first row is at the top");
  const line = (axis: object) =>
    /<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" fill="none"/
      .exec(draw({ y: [1, 2], mode: "lines" }, axis as Record<string, unknown>))!
      .slice(1)
      .map(Number);
  assert.ok(line({})[1]! > line({})[3]!);
  const reversed = line({ yaxis: { autorange: "reversed" } });
  assert.ok(reversed[1]! < reversed[3]!);
  const sideways = line({ xaxis: { autorange: "reversed" } });
  assert.ok(sideways[0]! > sideways[2]!);
});

test("figurePicture() fills between a line and the one before it", () => {
  const low = { y: [1, 1, 1], mode: "lines", line: { width: 0 }, showlegend: false };
  const high = { ...low, y: [2, 3, 2], fill: "tonexty", fillcolor: "#ff000033" };
  const svg = figurePicture({ data: [low, high], layout: {} })!;
  const area = /<path d="(M[^"]*z)" fill="#ff000033"/.exec(svg)![1]!;
  assert.equal(area.match(/[ML]/g)!.length, 6);
  assert.doesNotMatch(svg, /stroke-width="0"/);
  assert.doesNotMatch(svg, /trace 0/, "what is not in the legend is not named");
});

test("figurePicture() knows markers, dashes, the layout's colours and its description", () => {
  const figure: FigureLike = {
    data: [
      { y: [1, 2], mode: "markers", marker: { symbol: "x", size: 10 } },
      { y: [2, 1], mode: "lines", line: { dash: "dot" } },
    ],
    layout: {
      colorway: ["#111111", "#222222"],
      font: { color: "#eeeeee" },
      paper_bgcolor: "#000000",
      meta: { description: "two <things>" },
    },
  };
  const svg = figurePicture(figure)!;
  assert.match(svg, /fill="#111111" color="#111111"/);
  assert.match(svg, /stroke="#222222" stroke-width="2" stroke-dasharray="2 4"/);
  assert.match(svg, /<svg[^>]*fill="#eeeeee"/);
  assert.match(svg, /<rect width="700" height="360" fill="#000000"\/>/);
  assert.match(svg, /<desc>two &#60;things&#62;<\/desc>/);
});

test("figurePicture() lets no colour of a layout be code", () => {
  const evil = `"/><script>`;
  const svg = draw(
    { y: [1, 2], fill: "tozeroy", fillcolor: evil, line: { color: evil } },
    { font: { color: evil }, paper_bgcolor: evil, colorway: [evil] },
  );
  assert.doesNotMatch(svg, /<script/);
});

test("escapeHtml() leaves nothing that a file of XML may not hold", () => {
  assert.equal(escapeHtml("a\u0001\ud800<b>\n😀"), "a\ufffd\ufffd&#60;b&#62;\n😀");
});
