import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { Random } from "../../base/random/random.js";
import { type Expert, type TaskSet, type TaskSetOptions, fill, taskSetRules } from "./task-set.js";

interface CalcOptions extends TaskSetOptions {
  /** Digits of the numbers. Default: 2. */
  digits?: number;
  /** Numbers in the sum. Default: 3. */
  terms?: number;
}

const operators = ["+", "-", "*"] as const;

/** A whole number of up to so many digits, at least 2. */
export function drawNumber(random: Random, digits: number): number {
  return 2 + random.integer(10 ** digits - 2);
}

/** The value of whole numbers joined by + - *, with * first, as Python gives it. */
export function valueOf(expression: string): bigint {
  let sum = 0n;
  for (const [, sign, product] of expression.replace(/\s+/g, "").matchAll(/([+-]?)([0-9*]+)/g)) {
    const value = product!.split("*").reduce((p, factor) => p * BigInt(factor), 1n);
    sum += sign === "-" ? -value : value;
  }
  return sum;
}

const expert: Expert = (task, results, choose) => {
  const expression = String(task.extra["expression"]);
  const [result] = results;
  if (result === undefined) {
    const code = choose(expression, (random) => {
      const parts = expression.split(" ");
      const at = 1 + 2 * random.integer((parts.length - 1) / 2);
      parts[at] = random.choose(operators.filter((o) => o !== parts[at]));
      return parts.join(" ");
    }).replaceAll(" ", "");
    return {
      text: `<think>I compute ${code}.</think><python>${code}</python>`,
      call: { tag: "python", input: code },
    };
  }
  // A number of the question in place of the result: the slip of one who did not read on.
  const answer = choose(result.trim(), (random) => random.choose(expression.split(/ [-+*] /)));
  return { text: `<think>It is ${answer}.</think><answer>\\boxed{${answer}}</answer>` };
};

/** Sums that need the Python tool: the numbers are too large to do in one's head, the answer is exact. */
export function calc(options: CalcOptions = {}): TaskSet {
  checkOptions("make tasks", options, {
    ...taskSetRules,
    digits: integer(1),
    terms: integer(1),
  } satisfies OptionRules<CalcOptions>);
  const { seed = 1, train = 512, test = 64, digits = 2, terms = 3 } = options;
  if (!(digits >= 1 && digits <= 6 && terms >= 2 && terms <= 6)) {
    throw new RangeError(
      `Cannot make calc tasks: digits must be from 1 to 6 and terms from 2 to 6, got ${digits} and ${terms}`,
    );
  }
  const parts = fill("calc", Random.from(seed).split("calc"), { train, test }, (random) => {
    let expression = String(drawNumber(random, digits));
    for (let i = 1; i < terms; i++) {
      expression += ` ${random.choose(operators)} ${drawNumber(random, digits)}`;
    }
    return {
      question: `What is ${expression}?`,
      answer: String(valueOf(expression)),
      extra: { expression },
    };
  });
  return { name: "calc", ...parts, tools: ["python"], expert };
}
