// Makes the moving picture of the README, docs/images/loop.webp, of the loop in data/loop.json as it plays in Chromium:
// `node tools/site/loop-picture.mjs`. It is not packed; the README of the package shows docs/images/loop.png.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { theLoop, toHtml } from "../../dist/src/api/view.js";
import { launchChromium } from "../../dist/tests/tab/browsers/chromium.js";
import { root } from "../tab/bundle.mjs";

const width = 800;
/** Milliseconds of the loop from frame to frame, for how long each is shown, and the last one. */
const [step, shown, last] = [250, 200, 2200];
const quality = 0.7;

const bytes = (size, value) => {
  const made = Buffer.alloc(size);
  made.writeUIntLE(value, 0, size);
  return made;
};
function chunk(name, ...parts) {
  const body = Buffer.concat(parts);
  return Buffer.concat([
    Buffer.from(name),
    bytes(4, body.length),
    body,
    Buffer.alloc(body.length % 2),
  ]);
}

/** The chunk with the pixels in a file: a frame has neither its head nor its profile of colours. */
function pixelsIn(webp) {
  let at = 12;
  while (webp.toString("latin1", at, at + 4) !== "VP8 ")
    at += 8 + 2 * Math.ceil(webp.readUInt32LE(at + 4) / 2);
  return webp.subarray(at, at + 8 + 2 * Math.ceil(webp.readUInt32LE(at + 4) / 2));
}

/** Frames as one animated WebP that begins again: each has a WebP of what changed, where it lies, and its time. */
function animated({ width, height }, frames) {
  const size = (w, h) => Buffer.concat([bytes(3, w - 1), bytes(3, h - 1)]);
  const chunks = frames.map(({ x, y, w, h, webp, time }) =>
    // Drawn over the frame before.
    chunk(
      "ANMF",
      bytes(3, x / 2),
      bytes(3, y / 2),
      size(w, h),
      bytes(3, time),
      bytes(1, 2),
      pixelsIn(webp),
    ),
  );
  const head = chunk("VP8X", bytes(4, 2), size(width, height));
  const webp = Buffer.concat([
    Buffer.from("WEBP"),
    head,
    chunk("ANIM", bytes(4, 0xffffffff), bytes(2, 0)),
    ...chunks,
  ]);
  return Buffer.concat([Buffer.from("RIFF"), bytes(4, webp.length), webp]);
}

/** In a page: what of a picture differs from the one before, as WebP; undefined where nothing does. */
async function changed({ png, quality }) {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const { width, height } = image;
  const draw = (x, y, w, h) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.drawImage(image, -x, -y);
    return { canvas, pen };
  };
  const now = new Uint32Array(
    draw(0, 0, width, height).pen.getImageData(0, 0, width, height).data.buffer,
  );
  const before = window.before;
  window.before = now;
  let [left, top, right, bottom] = before ? [width, height, -1, -1] : [0, 0, width - 1, height - 1];
  if (before)
    for (let i = 0; i < now.length; i++) {
      if (now[i] === before[i]) continue;
      const [x, y] = [i % width, Math.floor(i / width)];
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    }
  if (right < 0) return undefined;
  // A frame begins at even places.
  const [x, y] = [left - (left % 2), top - (top % 2)];
  const [w, h] = [right - x + 1, bottom - y + 1];
  return {
    x,
    y,
    w,
    h,
    webp: draw(x, y, w, h).canvas.toDataURL("image/webp", quality).split(",")[1],
  };
}

const loop = await theLoop(join(root, "data/loop.json"));
const browser = await launchChromium();
const context = await browser.newContext({
  colorScheme: "light",
  viewport: { width, height: 700 },
});
const [page, helper] = [await context.newPage(), await context.newPage()];
await page.bringToFront();
await page.evaluate(() => {
  // The loop's clock is ours: a frame comes when it is asked for.
  let waiting = [];
  window.requestAnimationFrame = (work) => waiting.push(work);
  window.frameAt = (time) => {
    const now = waiting;
    waiting = [];
    for (const work of now) work(time);
    return waiting.length;
  };
});
await page.setContent(toHtml(loop));
await page.waitForTimeout(500); // until it has seen itself, and plays
await page.evaluate(() => window.frameAt(0)); // the tree has its height once it is drawn
// As far down as the legend of the tree.
const box = await page.locator(".ax-legend").first().boundingBox();
const clip = { x: 0, y: 0, width, height: Math.ceil(box.y + box.height + 6) };
await page.setViewportSize({ width, height: clip.height });

const frames = [];
for (let time = 0, goesOn = true; goesOn; time += step) {
  goesOn = (await page.evaluate((time) => window.frameAt(time), time)) > 0;
  const png = (await page.screenshot({ clip, animations: "disabled" })).toString("base64");
  const frame = await helper.evaluate(changed, { png, quality });
  if (frame) frames.push({ ...frame, webp: Buffer.from(frame.webp, "base64"), time: shown });
  else frames.at(-1).time += shown;
}
frames.at(-1).time += last;
await browser.close();
const picture = animated(clip, frames);
writeFileSync(join(root, "docs/images/loop.webp"), picture);
const seconds = frames.reduce((sum, { time }) => sum + time, 0) / 1000;
console.log(
  `${frames.length} frames, ${seconds.toFixed(1)} s, ${clip.width} x ${clip.height}, ${(picture.length / 1000).toFixed(0)} kB`,
);
