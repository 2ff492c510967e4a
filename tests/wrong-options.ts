import assert from "node:assert/strict";
import { test } from "node:test";

// Options that nobody reads, or that cannot be, are refused by every function that takes options. The
// functions are asked from outside: what an error says is known is what is tried next.

/** What an object of options must hold where it is given at all. */
const whole: Readonly<Record<string, object>> = {
  lessons: { copies: "lessons", shipped: "notebooks" },
  promptLimit: { length: 9, truncation: "left" },
  resume: { path: "a", steps: 0, baseModel: "a", rank: 1 },
  buffer: { bytes: 1, time: 1 },
};

/** What is given is what is tried: nothing, or nearly. */
export type Call = (options: never) => unknown;

/** Each function, and its options that must be given. */
export type Functions = Readonly<Record<string, readonly [call: Call, given?: object]>>;

/** What a call throws, in words; undefined where it takes what it got. */
export async function refusal(call: Call, options: unknown): Promise<string | undefined> {
  try {
    await call(options as never);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
    return error.message;
  }
}

/** The name with two letters swapped, or one too many where that changes nothing. */
const slip = (name: string) => {
  const last = name.split(".").at(-1)!;
  const at = Math.max(0, Math.floor(last.length / 2) - 1);
  const swapped = last.slice(0, at) + last[at + 1]! + last[at]! + last.slice(at + 2);
  return swapped === last || last.length < 2 ? `${last}x` : swapped;
};

/** Options with a value at a path. */
const put = (given: object, path: readonly string[], value: unknown): object => {
  const [first, ...rest] = path as [string, ...string[]];
  const inner = (given as Record<string, object>)[first] ?? {};
  return { ...given, [first]: rest.length === 0 ? value : put(inner, rest, value) };
};

/** Tries every wrong thing on every option that a function says it knows. */
async function probe(call: Call, given: object, path: readonly string[]): Promise<number> {
  const ask = (name: string, value: unknown) => refusal(call, put(given, [...path, name], value));
  const strange = "zzqqxxzzqq";
  const unknown = (await ask(strange, 1)) ?? "taken";
  const full = [...path, strange].join(".");
  assert.match(unknown, new RegExp(`^Cannot [^:]+: every option must be known, got ${full}`));
  const names = /; known are (.*)$/.exec(unknown)?.[1]?.split(", ") ?? [];
  assert.ok(names.length > 0, unknown);
  let tried = 1;
  for (const name of names) {
    const swapped = slip(name);
    if (!names.includes(swapped)) {
      assert.match(
        (await ask(swapped, 1)) ?? "taken",
        /every option must be known, got .*did you mean/,
      );
    }
    const wrong = (await ask(name, Symbol("wrong"))) ?? "taken";
    assert.match(wrong, new RegExp(`${name} must be .*got Symbol`), `${name} takes a symbol`);
    if (/number|integer/.test(wrong)) {
      assert.ok(await ask(name, NaN), `${name} takes NaN`);
      assert.ok(await ask(name, "1x"), `${name} takes a text`);
      assert.ok(await ask(name, [1]), `${name} takes a list`);
      if (!/a finite number(,| or|$)|a number,/.test(wrong)) {
        assert.ok(await ask(name, -1e9), `${name} takes -1e9`);
      }
      if (/integer/.test(wrong)) assert.ok(await ask(name, 1.5), `${name} takes 1.5`);
    }
    if (/one of/.test(wrong)) {
      const [first] = /one of ([^,]+)/.exec(wrong)!.slice(1) as [string];
      const other = await ask(name, slip(first));
      assert.match(
        other ?? "taken",
        new RegExp(`did you mean "${first}"|got "`),
        `${name} takes "${slip(first)}"`,
      );
    }
    if (/true or false/.test(wrong)) assert.ok(await ask(name, "yes"), `${name} takes "yes"`);
    tried += 8;
    if (
      /an object(,| or)/.test(wrong) &&
      (await refusal(call, put(given, [...path, name], { [strange]: 1 })))?.includes(
        `must be known, got ${[...path, name, strange].join(".")}`,
      )
    ) {
      tried += await probe(call, put(given, [...path, name], whole[name] ?? {}), [...path, name]);
    }
  }
  return tried;
}

/** A test for each function. */
export function refuseWrongOptions(functions: Functions): void {
  for (const [name, [call, given = {}]] of Object.entries(functions)) {
    test(`${name}() refuses options that are none, slips of names, NaN and values out of range`, async () => {
      for (const none of [5, "x", [], null, true]) {
        assert.match((await refusal(call, none)) ?? "taken", / must be an object, got /);
      }
      assert.ok((await probe(call, given, [])) > 1);
    });
  }
}
