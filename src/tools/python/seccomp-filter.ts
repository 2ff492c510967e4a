import { allowedCalls, firstUnknown, ruledCalls } from "./system-calls.js";

/** An architecture whose numbers are known. */
export type SandboxArch = "x64" | "arm64";

/** Whether system calls can be filtered on an architecture, as Node names it. */
export const isSandboxArch = (arch: string): arch is SandboxArch =>
  arch === "x64" || arch === "arm64";

const auditArch = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** What a filter answers. */
export const verdicts = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  notPermitted: 0x00050001,
  notImplemented: 0x00050026,
};

/** Calls from here on are x32's, which reach the same kernel under other numbers. */
const x32 = 0x40000000;

type Instruction = readonly [code: number, yes: number, no: number, value: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const ifEqual = (value: number, yes: number, no: number): Instruction => [0x15, yes, no, value];
const ifAtLeast = (value: number, yes: number, no: number): Instruction => [0x35, yes, no, value];
const answer = (verdict: number): Instruction => [0x06, 0, 0, verdict];

/** Where `struct seccomp_data` keeps things; both architectures put the lower half first. */
const at = { number: 0, arch: 4, argument: (i: number) => 16 + 8 * i, upper: 4 };

/** `name=x64/arm64` into the number on one of them, if it has one. */
function numberOf(call: string, arch: SandboxArch): number | undefined {
  const number = call.split("=")[1]!.split("/")[arch === "x64" ? 0 : 1]!;
  return number === "-" ? undefined : Number(number);
}

/**
 * The classic BPF program that lets `allowedCalls` and `ruledCalls` through and nothing else, as the
 * bytes of an array of `struct sock_filter`.
 *
 * Calls by another architecture's door (32-bit code by `int 0x80`, x32) end the process.
 */
export function seccompFilter(arch: SandboxArch): Uint8Array {
  const { allow, killProcess, notPermitted, notImplemented } = verdicts;
  const program: Instruction[] = [
    load(at.arch),
    ifEqual(auditArch[arch], 1, 0),
    answer(killProcess),
    load(at.number),
  ];
  if (arch === "x64") program.push(ifAtLeast(x32, 0, 1), answer(killProcess));
  for (const call of allowedCalls.flatMap((group) => group.trim().split(/\s+/))) {
    const number = numberOf(call, arch);
    if (number !== undefined) program.push(ifEqual(number, 0, 1), answer(allow));
  }
  for (const { call, argument, values, pointer } of ruledCalls) {
    const number = numberOf(call, arch);
    if (number === undefined) continue;
    const rule: Instruction[] = [
      ...(pointer
        ? [load(at.argument(argument) + at.upper), ifEqual(0, 1, 0), answer(notPermitted)]
        : []),
      load(at.argument(argument)),
      ...values.flatMap((value) => [ifEqual(value, 0, 1), answer(allow)]),
      answer(notPermitted),
    ];
    program.push(ifEqual(number, 0, rule.length), ...rule);
  }
  program.push(ifAtLeast(firstUnknown, 0, 1), answer(notImplemented), answer(notPermitted));
  const bytes = new Uint8Array(8 * program.length);
  const view = new DataView(bytes.buffer);
  for (const [i, [code, yes, no, value]] of program.entries()) {
    view.setUint16(8 * i, code, true);
    view.setUint8(8 * i + 2, yes);
    view.setUint8(8 * i + 3, no);
    view.setUint32(8 * i + 4, value, true);
  }
  return bytes;
}
