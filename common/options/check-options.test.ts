import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asPreset,
  checkOptions,
  either,
  finite,
  integer,
  listOf,
  oneOf,
  only,
  optionsOf,
  type OptionRules,
  required,
} from "./check-options.js";

interface Shout {
  times?: number;
  tone?: "loud" | "quiet" | null;
  words?: readonly string[];
  signal?: AbortSignal;
  echo?: boolean | { delay: number };
}

const rules: OptionRules<Shout> = {
  times: integer(1, 9),
  tone: either(oneOf(["loud", "quiet"]), only(null)),
  words: listOf("text", "texts"),
  signal: "signal?",
  echo: either("boolean", optionsOf<{ delay: number }>({ delay: required(finite) })),
};
const check = (options: unknown) => checkOptions("shout", options as Shout, rules);

test("checkOptions() knows what other functions and frameworks call an option", () => {
  const length: OptionRules<{ responseLength?: number; prompts?: number }> = {
    responseLength: integer(1),
    prompts: integer(1),
  };
  for (const [given, meant] of [
    ["maxTokens", "responseLength"],
    ["max_new_tokens", "responseLength"],
    ["batchSize", "prompts"],
  ] as const) {
    assert.throws(
      () => checkOptions("train", { [given]: 4 }, length as never),
      new RegExp(`got ${given}; did you mean ${meant}\\?$`),
    );
  }
});

test("checkOptions() names the action, the option, its rule and what it got", () => {
  check({});
  check({ times: 9, tone: null, words: ["hey"], echo: { delay: 0.5 } });
  check({ times: undefined, echo: true });
  const refused: [unknown, string][] = [
    [5, "TypeError: Cannot shout: options must be an object, got 5"],
    [
      { tims: 2 },
      "TypeError: Cannot shout: every option must be known, got tims; did you mean times?",
    ],
    [
      { volume: 1 },
      "TypeError: Cannot shout: every option must be known, got volume; known are times, tone, words, signal, echo",
    ],
    [{ times: 10 }, "RangeError: Cannot shout: times must be an integer from 1 to 9, got 10"],
    [{ times: NaN }, "RangeError: Cannot shout: times must be an integer from 1 to 9, got NaN"],
    [{ times: "2" }, 'TypeError: Cannot shout: times must be an integer from 1 to 9, got "2"'],
    [{ times: null }, "TypeError: Cannot shout: times must be an integer from 1 to 9, got null"],
    [
      { tone: "lod" },
      'RangeError: Cannot shout: tone must be one of loud, quiet or null, got "lod"; did you mean "loud"?',
    ],
    [{ words: ["a", 5] }, "TypeError: Cannot shout: words must be a list of texts, got 5 in it"],
    [{ signal: {} }, "TypeError: Cannot shout: signal must be an AbortSignal, got an object"],
    [{ echo: 1 }, "TypeError: Cannot shout: echo must be true or false or an object, got 1"],
    [
      { echo: { delay: "x" } },
      'TypeError: Cannot shout: echo.delay must be a finite number, got "x"',
    ],
    [{ echo: {} }, "TypeError: Cannot shout: echo.delay must be a finite number, got undefined"],
    [
      { echo: { dely: 1 } },
      "TypeError: Cannot shout: every option must be known, got echo.dely; did you mean echo.delay?",
    ],
    [{ toString: 1 }, "TypeError: Cannot shout: every option must be known, got toString"],
  ];
  for (const [options, message] of refused) {
    assert.throws(
      () => check(options),
      (error: Error) => String(error).startsWith(message),
      message,
    );
  }
});

test("checkOptions() names the nearest name, of a list too", () => {
  const size = oneOf(["small", "large"]);
  const rules: OptionRules<{ size?: string | string[] }> = {
    size: either(size, listOf(size, "sizes")),
  };
  for (const given of ["smal", ["large", "smal"]])
    assert.throws(
      () => checkOptions("grow", { size: given }, rules),
      /got "smal".*; did you mean "small"\?$/,
    );
});

test("what a preset says to other functions is refused by none of them, a slip beside it is", () => {
  const preset = asPreset({ times: 2, estimator: "grpo" });
  check({ ...preset, tone: "loud" });
  assert.throws(() => check({ ...preset, estimater: "grpo" }), /got estimater/);
  assert.throws(() => check({ estimator: "grpo" }), /got estimator/);
});

test("a table without a rule for every option does not compile", () => {
  // @ts-expect-error: the rule of `tone` is missing.
  const incomplete: OptionRules<Pick<Shout, "times" | "tone">> = { times: integer() };
  assert.ok(!("tone" in incomplete));
});
