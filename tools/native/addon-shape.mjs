// Reads what an addon asks of the machine that loads it: processor, libraries, and the functions it leaves
// open. For ELF, Mach-O and PE files of 64 bits.

const text = (bytes, at) => bytes.toString("latin1", at, bytes.indexOf(0, at));
const range = (count) => Array.from({ length: count }, (_, i) => i);

function elf(bytes) {
  const wide = (at) => Number(bytes.readBigUInt64LE(at));
  const sections = range(bytes.readUInt16LE(60)).map((i) => {
    const at = wide(40) + i * 64;
    const [type, offset, size, link] = [
      bytes.readUInt32LE(at + 4),
      wide(at + 24),
      wide(at + 32),
      bytes.readUInt32LE(at + 40),
    ];
    return { type, offset, size, link };
  });
  const [DYNAMIC, SYMBOLS] = [6, 11];
  const entries = ({ offset, size }, width) => range(size / width).map((i) => offset + i * width);
  const symbols = sections.find(({ type }) => type === SYMBOLS);
  const names = (section, at) =>
    text(bytes, sections[section.link].offset + bytes.readUInt32LE(at));
  const all = entries(symbols, 24).map((at) => ({
    name: names(symbols, at),
    open: bytes.readUInt16LE(at + 6) === 0,
  }));
  const dynamic = sections.find(({ type }) => type === DYNAMIC);
  return {
    arch: { 62: "x64", 183: "arm64" }[bytes.readUInt16LE(18)],
    libraries: entries(dynamic, 16)
      .filter((at) => wide(at) === 1)
      .map((at) => text(bytes, sections[dynamic.link].offset + wide(at + 8))),
    open: all.filter(({ name, open }) => open && name !== "").map(({ name }) => name),
    given: all.filter(({ open }) => !open).map(({ name }) => name),
  };
}

function macho(bytes) {
  const commands = [];
  for (let i = 0, at = 32; i < bytes.readUInt32LE(16); i++, at += bytes.readUInt32LE(at + 4))
    commands.push({ type: bytes.readUInt32LE(at), at });
  const [SYMBOLS, LIBRARY, SIGNATURE] = [0x2, 0xc, 0x1d];
  const { at: table } = commands.find(({ type }) => type === SYMBOLS);
  const [offset, count, strings] = [8, 12, 16].map((d) => bytes.readUInt32LE(table + d));
  const all = range(count).map((i) => {
    const at = offset + i * 16;
    const type = bytes[at + 4];
    const name = text(bytes, strings + bytes.readUInt32LE(at)).replace(/^_/, "");
    return { name, open: (type & 0xe) === 0, shared: (type & 1) === 1 };
  });
  return {
    arch: { 0x1000007: "x64", 0x100000c: "arm64" }[bytes.readUInt32LE(4)],
    libraries: commands
      .filter(({ type }) => type === LIBRARY)
      .map(({ at }) => text(bytes, at + bytes.readUInt32LE(at + 8))),
    open: all.filter(({ open, shared }) => open && shared).map(({ name }) => name),
    given: all.filter(({ open, shared }) => !open && shared).map(({ name }) => name),
    signed: commands.some(({ type }) => type === SIGNATURE),
  };
}

function pe(bytes) {
  const start = bytes.readUInt32LE(0x3c);
  const optional = start + 24;
  const sections = range(bytes.readUInt16LE(start + 6)).map((i) => {
    const at = optional + bytes.readUInt16LE(start + 20) + i * 40;
    return [12, 8, 20].map((d) => bytes.readUInt32LE(at + d));
  });
  const place = (address) => {
    const [from, , file] = sections.find(([a, size]) => address >= a && address < a + size);
    return address - from + file;
  };
  const directory = (i) => place(bytes.readUInt32LE(optional + 112 + i * 8));
  const [libraries, open] = [[], []];
  for (let at = directory(1); bytes.readUInt32LE(at + 12) !== 0; at += 20) {
    libraries.push(text(bytes, place(bytes.readUInt32LE(at + 12))));
    let name = place(bytes.readUInt32LE(at) || bytes.readUInt32LE(at + 16));
    for (; bytes.readBigUInt64LE(name) !== 0n; name += 8)
      open.push(text(bytes, place(bytes.readUInt32LE(name)) + 2));
  }
  const exported = directory(0);
  const names = place(bytes.readUInt32LE(exported + 32));
  return {
    arch: { 0x8664: "x64", 0xaa64: "arm64" }[bytes.readUInt16LE(start + 4)],
    libraries,
    open,
    given: range(bytes.readUInt32LE(exported + 24)).map((i) =>
      text(bytes, place(bytes.readUInt32LE(names + i * 4))),
    ),
  };
}

/** The shape of an addon; throws where the file is of no kind that is known. */
export function addonShape(bytes) {
  if (bytes.readUInt32BE(0) === 0x7f454c46) return { kind: "linux", ...elf(bytes) };
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return { kind: "darwin", ...macho(bytes) };
  if (bytes.toString("latin1", 0, 2) === "MZ") return { kind: "win32", ...pe(bytes) };
  throw new TypeError("Cannot read an addon: the file must be ELF, Mach-O or PE");
}
