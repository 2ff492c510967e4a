import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import { Random } from "../../base/random/random.js";
import { drawNumber, valueOf } from "./calc.js";
import { type WorldOptions, readOff, searchFor } from "./lookup.js";
import { type Expert, type TaskSet, fill, taskSetRules } from "./task-set.js";
import { type Relation, type World, world as shipped } from "./world.js";

interface MixedOptions extends WorldOptions {
  /** Digits of the number to compute with. Default: 2. */
  digits?: number;
}

const numeric = ["founding year", "population"] as const satisfies Relation[];
const operators = ["+", "-", "*"] as const;
const words = { "+": "plus", "-": "minus", "*": "times" } as const;
type Operator = keyof typeof words;

const expert =
  (world: World): Expert =>
  (task, results, choose) => {
    const { relation, town, operator, number } = task.extra as {
      relation: Relation;
      town: string;
      operator: Operator;
      number: number;
    };
    const [found, computed] = results;
    if (found === undefined) {
      const search = searchFor(relation, town, choose);
      return { ...search, text: `<think>I look it up.</think>${search.text}` };
    }
    if (computed === undefined) {
      const { value, thought } = readOff(world, found, relation, town, choose);
      const sign = choose<Operator>(operator, (random) => random.choose(operators));
      const code = `${/^\d+$/.test(value) ? value : 0}${sign}${number}`;
      return { text: `${thought}<python>${code}</python>`, call: { tag: "python", input: code } };
    }
    const known = world.fact(relation, town)!.value;
    const answer = choose(computed.trim(), (random) => random.choose([known, String(number)]));
    return { text: `<think>It is ${answer}.</think><answer>\\boxed{${answer}}</answer>` };
  };

/** A number to be found by searching and then computed with: both tools are needed, in order. */
export function mixed(options: MixedOptions = {}): TaskSet {
  checkOptions("make tasks", options, {
    ...taskSetRules,
    world: "object?",
    digits: integer(1),
  } satisfies OptionRules<MixedOptions>);
  const { seed = 1, train = 512, test = 64, digits = 2, world = shipped } = options;
  const parts = fill("mixed", Random.from(seed).split("mixed"), { train, test }, (random) => {
    const town = random.choose(world.towns);
    const relation = random.choose(numeric);
    const operator = random.choose(operators);
    const number = drawNumber(random, digits);
    return {
      question: `What is the ${relation} of ${town} ${words[operator]} ${number}?`,
      answer: String(valueOf(`${world.fact(relation, town)!.value}${operator}${number}`)),
      extra: { relation, town, operator, number },
    };
  });
  return { name: "mixed", ...parts, tools: ["search", "python"], expert: expert(world) };
}
