import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { toPdf } from "./to-pdf.js";

/** The objects of a PDF, found by its own table of places: each dictionary and, of a stream, its text. */
function objectsOf(pdf: Uint8Array): { dictionary: string; text: string }[] {
  const file = Buffer.from(pdf).toString("latin1");
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)![1]);
  assert.ok(file.startsWith("xref\n", table));
  const places = [...file.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) =>
    Number(at),
  );
  return places.map((at, i) => {
    const head = `${i + 1} 0 obj\n`;
    assert.ok(file.startsWith(head, at), `object ${i + 1} is at ${at}`);
    const stream = file.indexOf("stream\n", at) + 7;
    const dictionary = file
      .slice(at + head.length, file.indexOf("endobj", at))
      .split("stream\n")[0]!;
    const length = /\/Length (\d+)/.exec(dictionary)?.[1];
    const packed = Buffer.from(file.slice(stream, stream + Number(length)), "latin1");
    return { dictionary, text: length === undefined ? "" : inflateSync(packed).toString() };
  });
}

const svg = (inside: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">${inside}</svg>`;

test("toPdf() draws areas, lines, clips, groups and text with PDF's operators", async () => {
  const clipped = `<clipPath id="c"><rect width="50" height="50"/></clipPath><g clip-path="url(#c)"><circle cx="40" cy="40" r="9" fill="#0000ff"/></g>`;
  const faint = `<g opacity=".5"><rect width="9" height="9"/><rect width="9" height="9"/></g>`;
  const line = `<path d="M0 0L10 10" fill="none" stroke="#00ff00" stroke-width="3" stroke-dasharray="4 2" stroke-linecap="round"/>`;
  const rect = `<rect x="10" y="20" width="30" height="40" fill="#ff0000"/>`;
  const pdf = await toPdf(svg(`${rect}${line}${clipped}${faint}<text x="9" y="90">o</text>`), {
    background: "transparent",
  });
  const [, page, resources, content, group] = objectsOf(pdf);
  assert.match(page!.dictionary, /MediaBox \[0 0 150 75\]/);
  const { text } = content!;
  assert.match(text, /^0\.75 0 0 -0\.75 0 75 cm\n/);
  assert.match(text, /q\n1 0 0 rg\n10 20 m\n40 20 l\n40 60 l\n10 60 l\nh\nf\nQ/);
  assert.match(text, /0 1 0 RG\n3 w 1 J\n0 j\n\[4 2\] 0 d\n4 M\n0 0 m\n10 10 l\nS/);
  assert.match(text, /0 0 m\n50 0 l\n50 50 l\n0 50 l\nh\nW n/);
  assert.match(text, /\/S0 gs \/G0 Do/);
  assert.match(resources!.dictionary, /\/S0 <<\/ca 0\.5 \/CA 0\.5>>.*\/G0 5 0 R/);
  assert.match(group!.dictionary, /\/Subtype \/Form .*\/Group <<\/S \/Transparency>>/);
  assert.equal(group!.text.match(/^f$/gm)!.length, 2);
  assert.ok(text.match(/ c$/gm)!.length > 4, "the circle's and the letter's curves");
});

test("toPdf() makes the same bytes of the same picture, on a ground that is named", async () => {
  const words = svg("<text x='9' y='9'>the same words</text>");
  const [a, b] = [await toPdf(words), await toPdf(words)];
  assert.deepEqual(a, b);
  const dark = await toPdf(svg("<path d='M0 0h9v9z'/>"), { background: "#102030" });
  assert.match(objectsOf(dark)[3]!.text, /0\.063 0\.125 0\.188 rg\n0 0 m\n200 0 l\n200 100 l/);
});

test("toPdf() names what it cannot draw, and what is no picture", async () => {
  const gradient = `<linearGradient id="g"><stop offset="0"/><stop offset="1" stop-color="red"/></linearGradient><rect width="9" height="9" fill="url(#g)"/>`;
  await assert.rejects(
    toPdf(svg(gradient)),
    /must consist of lines, areas and text, got linearGrad/,
  );
  await assert.rejects(toPdf("no picture"), /Cannot make a PDF: the picture must be an SVG/);
  await assert.rejects(toPdf(svg(""), { scale: 2 } as never), /scale/);
});
