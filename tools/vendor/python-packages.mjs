// Makes data/python/packages.zip: sympy and mpmath for the Python tool, from PyPI's wheels, without
// their tests. `node tools/vendor/python-packages.mjs --check` makes it and compares with what is there.
//
// The wheels come through pip, pinned by hash. Needs python3 with pip; only maintainers run it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const target = fileURLToPath(new URL("../../data/python/packages.zip", import.meta.url));
const pins = [
  "sympy==1.14.0 --hash=sha256:e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5",
  "mpmath==1.3.0 --hash=sha256:a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c",
];
const left = (name) =>
  !/\/(tests|benchmarks)\//.test(name) &&
  !/\/(RECORD|WHEEL|top_level\.txt|entry_points\.txt)$/.test(name) &&
  !name.includes(".data/");

const crcTable = Array.from({ length: 256 }, (_, n) => {
  for (let i = 0; i < 8; i++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});
const crc32 = (data) => {
  let crc = 0xffffffff;
  for (const byte of data) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff];
  return (crc ^ 0xffffffff) >>> 0;
};

/** The entries of a zip file, by its central directory. */
function* entries(zip) {
  let at = zip.readUInt32LE(zip.lastIndexOf(Buffer.from("PK\x05\x06")) + 16);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const [method, size, name, extra, comment] = [
      zip.readUInt16LE(at + 10),
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt16LE(at + 30),
      zip.readUInt16LE(at + 32),
    ];
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const bytes = zip.subarray(start, start + size);
    const path = zip.toString("utf8", at + 46, at + 46 + name);
    yield [path, method === 0 ? bytes : inflateRawSync(bytes)];
    at += 46 + name + extra + comment;
  }
}

/** A zip file with every date at the format's beginning, so that the same files give the same bytes. */
function pack(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [path, data] of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(data, { level: 9 });
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x800, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt16LE(0x21, 8);
    head.writeUInt32LE(crc32(data), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from("PK\x03\x04"), head, name, packed);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), head, tail, name);
    offset += 30 + name.length + packed.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from("PK\x05\x06"), end]);
}

const dir = mkdtempSync(join(tmpdir(), "packages-"));
try {
  writeFileSync(join(dir, "pins.txt"), pins.join("\n"));
  const pip = [
    "-m",
    "pip",
    "download",
    "-q",
    "--no-deps",
    "--only-binary=:all:",
    "--require-hashes",
  ];
  const { status } = spawnSync("python3", [...pip, "-d", dir, "-r", join(dir, "pins.txt")], {
    stdio: "inherit",
  });
  if (status !== 0)
    throw new Error(`Cannot fetch the wheels: pip must succeed, got status ${status}`);
  const files = readdirSync(dir)
    .filter((name) => name.endsWith(".whl"))
    .flatMap((name) => [...entries(readFileSync(join(dir, name)))])
    .filter(([name]) => left(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const zip = pack(files);
  if (process.argv.includes("--check")) {
    const there = [...entries(readFileSync(target))];
    const same =
      there.length === files.length &&
      files.every(([name, data], i) => there[i][0] === name && data.equals(there[i][1]));
    console.log(same ? `${target} is what the wheels give` : `${target} differs from the wheels`);
    process.exitCode = same ? 0 : 1;
  } else {
    writeFileSync(target, zip);
    console.log(`${target}: ${files.length} files, ${(zip.length / 2 ** 20).toFixed(1)} MiB`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
