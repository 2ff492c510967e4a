import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { type SandboxArch, seccompFilter, verdicts } from "./system-python.js";
import { allowedCalls, ruledCalls } from "./system-calls.js";

const archs = { x64: 0xc000003e, arm64: 0xc00000b7 };
const { allow, killProcess, notPermitted, notImplemented } = verdicts;

/** What the kernel would answer: the BPF program run on a call, as the kernel's interpreter does. */
function decide(
  program: Uint8Array,
  number: number,
  args: readonly bigint[] = [],
  arch = archs.x64,
) {
  const filter = Buffer.from(program);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(arch, 4);
  args.forEach((arg, i) => data.writeBigUInt64LE(BigInt.asUintN(64, arg), 16 + 8 * i));
  let accumulator = 0;
  for (let at = 0; 8 * at < filter.length; at++) {
    const code = filter.readUInt16LE(8 * at);
    const [yes, no] = [filter[8 * at + 2]!, filter[8 * at + 3]!];
    const value = filter.readUInt32LE(8 * at + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x06) return value;
    else assert.fail(`instruction ${code} at ${at}`);
  }
  return assert.fail("the program ran out of its end");
}

/** `[name, number]` of every call of an architecture in `name=x64/arm64` texts. */
const numbers = (calls: readonly string[], arch: SandboxArch) =>
  calls
    .flatMap((text) => text.trim().split(/\s+/))
    .map((call) => call.split(/[=/]/))
    .map(([name, x64, arm64]) => [name!, arch === "x64" ? x64! : arm64!] as const)
    .filter(([, number]) => number !== "-")
    .map(([name, number]) => [name, Number(number)] as const);

for (const arch of ["x64", "arm64"] as const) {
  const filter = seccompFilter(arch);
  const says = (number: number, ...args: (number | bigint)[]) =>
    decide(filter, number, args.map(BigInt), archs[arch]);
  const plain = new Map(numbers(allowedCalls, arch).map(([name, n]) => [n, name]));
  const ruled = new Map(
    numbers(
      ruledCalls.map((rule) => rule.call),
      arch,
    ).map(([name, n]) => [n, name]),
  );

  test(`seccompFilter() on ${arch} allows the calls of the list and no other number`, () => {
    assert.equal(plain.size, numbers(allowedCalls, arch).length, "a number stands there twice");
    for (const number of ruled.keys()) assert.ok(!plain.has(number), `${number} is in both lists`);
    for (let number = 0; number < 1 << 16; number++) {
      // -1 in every argument is in no rule.
      const expected = plain.has(number) ? allow : number >= 435 ? notImplemented : notPermitted;
      assert.equal(
        says(number, -1, -1, -1, -1, -1, -1),
        ruled.has(number) ? notPermitted : expected,
        String(number),
      );
    }
  });

  test(`seccompFilter() on ${arch} ends a process that comes by another architecture's door`, () => {
    for (const other of [0x40000003, 0xc00000b7, 0xc000003e, 0x40000028, 0x80000008, 0]) {
      if (other === archs[arch]) continue;
      for (const number of [0, 1, 20, 63, 425]) {
        assert.equal(decide(filter, number, [], other), killProcess);
      }
    }
    const beyond = arch === "x64" ? killProcess : notImplemented;
    for (const number of [0x40000000, 0x40000027, 0x40000209, 0x7fffffff, 0x80000000, 0xffffffff]) {
      assert.equal(says(number), beyond);
    }
  });

  test(`seccompFilter() on ${arch} tells harmless arguments from harmful ones`, () => {
    const number = (name: string) => [...ruled].find(([, n]) => n === name)![0];
    const [allowed, refused] = [allow, notPermitted];
    const cases: [string, number, ...(number | bigint)[]][] = [
      ...(arch === "x64"
        ? ([
            ["open", allowed, 0, 0o1102],
            ["open", refused, 0, 0o20200002],
          ] as [string, number, ...number[]][])
        : []),
      ["openat", allowed, 0, 0, 0o1102],
      ["openat", refused, 0, 0, 0o20200002],
      ["clone", allowed, 0x3d0f00],
      ["clone", refused, 17],
      ["clone", refused, 0x10000000 | 17],
      ["clone", refused, 0x3d0f00 | 0x20000],
      ["clone", refused, 0x10000],
      ["fcntl", allowed, 0, 1030],
      ["fcntl", refused, 0, 8],
      ["fcntl", refused, 0, 1024],
      ["ioctl", allowed, 0, 0x5401],
      ["ioctl", refused, 0, 0x5412],
      ["ioctl", refused, 0, 0x100005412n],
      ["ioctl", refused, 0, 0x541c],
      ["prctl", allowed, 15],
      ["prctl", refused, 22],
      ["prlimit64", allowed, 0],
      ["prlimit64", refused, 1],
      ["socketpair", allowed, 1],
      ["socketpair", refused, 2],
      ["socketpair", refused, 16],
      ["sendto", allowed, 3, 0, 0, 0, 0, 0],
      ["sendto", refused, 3, 0, 0, 0, 0x7f0000000000n, 16],
      ["sendto", refused, 3, 0, 0, 0, 0x1000, 16],
    ];
    for (const [name, verdict, ...args] of cases) {
      assert.equal(says(number(name), ...args), verdict, `${name}(${args.join(", ")})`);
    }
    assert.equal(new Set(cases.map(([name]) => name)).size, ruled.size, "every rule is tried");
  });

  const header = {
    x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    arm64: "/usr/include/asm-generic/unistd.h",
  }[arch];
  const skip = existsSync(header)
    ? false
    : `LEFT OUT, the kernel's headers are not here: ${header}`;
  test(`the numbers on ${arch} are those of the kernel's headers`, { skip }, () => {
    const known = new Map<string, number>();
    const text = readFileSync(header, "utf8");
    for (const [, name, n] of text.matchAll(/#define __NR(?:3264)?_(\w+)\s+(\d+)/g))
      known.set(name!, Number(n));
    let compared = 0;
    for (const [number, name] of [...plain, ...ruled]) {
      const expected = known.get(name) ?? known.get(name.replace("newfstat", "fstat"));
      if (expected === undefined) continue; // Newer than these headers.
      assert.equal(number, expected, name);
      compared++;
    }
    assert.ok(compared >= plain.size + ruled.size - 3, `${compared} of ${plain.size + ruled.size}`);
  });
}
