import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import posix from "node:path/posix";
import test from "node:test";
import { deflateRawSync } from "node:zlib";
import * as tabBytes from "../../common/platform/browser/bytes.js";
import * as tabPath from "../../common/platform/browser/path.js";
import * as tabHash from "../../common/platform/browser/sha256.js";
import * as tabTurns from "../../common/platform/browser/process.js";
import * as tabZip from "../../common/platform/browser/zip.js";
import * as tabUuid from "../../common/platform/browser/uuid.js";
import * as nodeBytes from "../../common/platform/node/bytes.js";
import * as nodeHash from "../../common/platform/node/sha256.js";
import * as nodeZip from "../../common/platform/node/zip.js";
import * as nodeTurns from "../../common/platform/node/process.js";

const here = new URL("../../common/platform/", import.meta.url);

test("both halves have the same modules, and each module the same names", async () => {
  const names = (half: string) =>
    readdirSync(new URL(half, here), { recursive: true, encoding: "utf8" })
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => /^(?!site|tree|in-use).*(?<!\.test)\.js$/.test(name))
      .sort();
  assert.deepEqual(names("browser"), names("node"));
  for (const name of names("node")) {
    const load = async (half: string) =>
      Object.keys((await import(`../../common/platform/${half}/${name}`)) as object).sort();
    assert.deepEqual(await load("browser"), await load("node"), name);
  }
});

/** Every path of up to five steps, with all that is odd about paths. */
function* oddPaths(): Generator<string> {
  const steps = ["", "/", ".", "..", "a", ".b", "c.d", "e.", "...", "//"];
  for (const one of steps)
    for (const two of steps) for (const three of steps) yield [one, two, three].join("/");
  for (const one of steps) for (const two of steps) yield one + two;
}

test("a tab's paths are Node's POSIX paths", () => {
  const all = [...oddPaths()];
  for (const path of all) {
    for (const name of ["basename", "dirname", "extname", "isAbsolute"] as const) {
      if (name === "dirname" && path.startsWith("//")) continue; // POSIX leaves two open
      assert.equal(tabPath[name](path), posix[name](path), `${name}(${path})`);
    }
    // Node gives slashes alone back where it was to take an ending off.
    if (!/^\/+$/.test(path))
      assert.equal(tabPath.basename(path, ".d"), posix.basename(path, ".d"), path);
    assert.equal(tabPath.resolve("/", path), posix.resolve("/", path), path);
    assert.equal(tabPath.resolve("/x/y", path), posix.resolve("/x/y", path), path);
    assert.equal(tabPath.join(path), posix.join(path), path);
  }
  for (let i = 0; i < all.length; i++) {
    const [one, two] = [all[i]!, all[(i * 7 + 3) % all.length]!];
    assert.equal(tabPath.join(one, two), posix.join(one, two), `${one} ${two}`);
    const [from, to] = [`/x/${one}`, `/x/${two}`];
    assert.equal(tabPath.relative(from, to), posix.relative(from, to), `${from} ${to}`);
  }
});

test("a tab's sha256 is Node's, at every length around a block and in any pieces", () => {
  for (let length = 0; length < 260; length++) {
    const bytes = randomBytes(length);
    const wanted = createHash("sha256").update(bytes).digest("hex");
    assert.equal(tabHash.sha256(bytes), wanted);
    assert.equal(nodeHash.sha256(bytes), wanted);
    const cut = (length * 31) % (length + 1);
    assert.equal(tabHash.sha256(bytes.subarray(0, cut), bytes.subarray(cut)), wanted);
  }
  assert.equal(tabHash.sha256("père \u{1F600}"), nodeHash.sha256("père \u{1F600}"));
  assert.equal(tabHash.sha256("half \uD800"), nodeHash.sha256("half \uD800"));
});

test("a tab counts and writes bytes as Node does", () => {
  for (const text of ["", "a", "é", "€", "\u{1F600}", "\uD800", "\uD800\uD800\uDC00", "\uDC00x"])
    assert.equal(tabBytes.utf8Length(text), nodeBytes.utf8Length(text), JSON.stringify(text));
  for (const length of [0, 1, 2, 3, 8191, 8192, 8193, 20_000]) {
    const bytes = new Uint8Array(randomBytes(length + 1)).subarray(1);
    assert.equal(tabBytes.toBase64(bytes), nodeBytes.toBase64(bytes));
  }
  const floats = Float32Array.of(1, -2.5, NaN);
  assert.equal(tabBytes.toBase64(floats), nodeBytes.toBase64(floats));
});

test("a tab sums up and unpacks as Node does", async () => {
  const bytes = new Uint8Array(Array.from({ length: 100_000 }, (_, i) => (i * i) >> 5));
  assert.equal(tabZip.crc32(bytes), nodeZip.crc32(bytes));
  const half = nodeZip.crc32(bytes.subarray(0, 777));
  assert.equal(tabZip.crc32(bytes.subarray(777), half), nodeZip.crc32(bytes));
  const packed = deflateRawSync(bytes);
  async function* pieces() {
    for (let at = 0; at < packed.length; at += 1000)
      yield await Promise.resolve(new Uint8Array(packed.subarray(at, at + 1000)));
  }
  for (const { inflated } of [nodeZip, tabZip]) {
    const found: Uint8Array[] = [];
    for await (const piece of inflated(pieces())) found.push(piece);
    assert.deepEqual(tabBytes.joinBytes(found), bytes);
  }
});

for (const [home, turns] of [
  ["Node", nodeTurns],
  ["a tab", tabTurns],
] as const) {
  test(`in ${home} the next turn comes after what was promised, and in order`, async () => {
    const seen: number[] = [];
    const both = [
      turns.yieldToEventLoop().then(() => seen.push(2)),
      turns.yieldToEventLoop().then(() => seen.push(3)),
    ];
    queueMicrotask(() => seen.push(1));
    await Promise.all(both);
    assert.deepEqual(seen, [1, 2, 3]);
  });

  test(`in ${home} a wait ends by itself, or with its signal`, async () => {
    await turns.wait(1);
    const stop = new AbortController();
    const waiting = turns.wait(60_000, stop.signal);
    stop.abort();
    await assert.rejects(waiting, { name: "AbortError" });
    await assert.rejects(turns.wait(60_000, stop.signal), { name: "AbortError" });
  });
}

test("a tab's names for things are UUIDs of version 4", () => {
  const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const made = Array.from({ length: 100 }, () => tabUuid.randomUUID());
  for (const id of made) assert.match(id, pattern);
  assert.equal(new Set(made).size, 100);
});
