import { Random } from "../../base/random/random.js";
import { type Expert, fill, type TaskSet } from "../tasks/task-set.js";
import {
  asSentence,
  natural,
  type NaturalOptions,
  promptFor,
  type Share,
  Speaker,
  type Wording,
} from "./wording.js";

const w = (seen: readonly string[], held: readonly string[]): Wording => ({ seen, held });

/** What stories are told with: {p} is a person, {items} are counted, {place} is where. */
const heroes = `Maren,Olo,Tilda,Bram,Edda,Joss,Kaya,Lorne,Mira,Nils,Orla,Rosa,Sven,Tove`.split(",");
interface Setting {
  items: string;
  place: string;
}
const settings: readonly Setting[] = [
  ...[
    { items: "apples", place: "orchard" },
    { items: "books", place: "library" },
  ],
  ...[
    { items: "candles", place: "workshop" },
    { items: "tickets", place: "theatre" },
  ],
  ...[
    { items: "loaves", place: "bakery" },
    { items: "bricks", place: "yard" },
  ],
  ...[
    { items: "bottles", place: "cellar" },
    { items: "seedlings", place: "greenhouse" },
  ],
  ...[
    { items: "letters", place: "post office" },
    { items: "tiles", place: "pottery" },
  ],
];
/** Other things of the same kind, in the test only. */
const heldSettings: readonly Setting[] = [
  ...[
    { items: "lanterns", place: "harbour" },
    { items: "jars", place: "pantry" },
  ],
  ...[
    { items: "ropes", place: "boathouse" },
    { items: "coins", place: "museum" },
  ],
];

const beginnings = w(
  [
    "{p} has {n} {items} in the {place}.",
    "There are {n} {items} in the {place} that {p} looks after.",
    "In the morning {p} counts {n} {items} in the {place}.",
    "{p} starts the week with {n} {items} in the {place}.",
  ],
  [
    "The {place} of {p} holds {n} {items} to begin with.",
    "When {p} takes over the {place}, {n} {items} are in it.",
  ],
);

/** What happens to the number. */
const events = {
  gain: w(
    [
      "Then {n} more {items} are delivered.",
      "{p} buys {n} more {items}.",
      "A neighbour brings another {n} {items}.",
      "Later {n} {items} come back.",
    ],
    [
      "On top of that {p} is given {n} {items}.",
      "A forgotten box with {n} further {items} turns up.",
    ],
  ),
  gainGroups: w(
    [
      "{k} crates arrive, each with {n} {items}.",
      "{p} orders {k} boxes of {n} {items} each.",
      "For {k} days in a row, {n} {items} are added a day.",
    ],
    [
      "A cart unloads {k} sacks, and every sack holds {n} {items}.",
      "Each of {k} friends contributes {n} {items}.",
    ],
  ),
  lose: w(
    [
      "{p} sells {n} of them.",
      "{n} of the {items} are damaged and thrown away.",
      "{p} gives {n} {items} to a friend.",
      "Then {n} {items} are sent elsewhere.",
    ],
    ["Overnight {n} of the {items} go missing.", "A customer walks off with {n} {items}."],
  ),
  loseGroups: w(
    [
      "{k} customers take {n} {items} each.",
      "{p} fills {k} orders of {n} {items} each.",
      "On each of {k} days {n} {items} are used up.",
    ],
    [
      "{k} schools are supplied, every one with {n} {items}.",
      "Each of {k} carts leaves with {n} {items}.",
    ],
  ),
  multiply: w(
    [
      "By the end of the month there are {k} times as many {items}.",
      "The number of {items} then becomes {k} times as large.",
    ],
    [
      "A good season makes {k} of every one of the {items}.",
      "Soon {p} counts {k} times what there was.",
    ],
  ),
  split: w(
    [
      "The {items} are shared equally among {k} shelves, and {p} goes on with what is on one shelf.",
      "{p} divides them into {k} equal parts and keeps one part.",
    ],
    [
      "Of {k} equal heaps, only one stays in the {place}.",
      "{k} partners split the {items} evenly; {p} is one of them.",
    ],
  ),
} as const;
type EventName = keyof typeof events;

/** True, and beside the point. */
const distractions = w(
  [
    "{p} is {n} years old.",
    "The {place} was opened {n} years ago.",
    "It is {n} kilometres to the next town.",
    "The door has the number {n}.",
  ],
  [
    "{p} gets up at {n} minutes past six.",
    "A cat called Button, {n} months old, watches.",
    "The roof was mended {n} weeks ago.",
  ],
);

const endings = w(
  [
    "How many {items} are there now?",
    "How many {items} does {p} have at the end?",
    "What is the number of {items} in the end?",
    "How many {items} are left after all this?",
  ],
  ["With how many {items} does the story end?", "Count them: how many {items} remain with {p}?"],
);

/** How long a story is, and how large its numbers are. */
const levels = {
  1: { steps: [2, 2], asides: 0, start: [20, 99], number: [3, 60], groups: [2, 9], factor: [2, 3] },
  2: {
    steps: [3, 4],
    asides: 1,
    start: [120, 999],
    number: [12, 300],
    groups: [4, 24],
    factor: [2, 6],
  },
  3: {
    steps: [5, 6],
    asides: 2,
    start: [1200, 9999],
    number: [45, 900],
    groups: [11, 48],
    factor: [3, 12],
  },
} as const;
type Level = keyof typeof levels;

const names = Object.keys(events) as EventName[];
const between = (random: Random, [least, most]: readonly [number, number]) =>
  least + random.integer(most - least + 1);

interface Step {
  event: EventName;
  n: number;
  k: number;
}

/** A sentence of a story, and the sum up to it where it is not beside the point. */
interface Line {
  sentence: string;
  sum?: string;
}

/** What a step does to the number; undefined where it cannot be taken. */
function after(count: number, { event, n, k }: Step): number | undefined {
  const changed = {
    gain: count + n,
    gainGroups: count + k * n,
    lose: count - n,
    loseGroups: count - k * n,
    multiply: count * k,
    split: count / k,
  }[event];
  return Number.isInteger(changed) && changed > 0 && changed < 10_000_000 ? changed : undefined;
}

const sum = (expression: string) => (/[-+]/.test(expression) ? `(${expression})` : expression);

/** The story as one sum for Python. */
function expressionOf(start: number, steps: readonly Step[]): string {
  let expression = String(start);
  for (const { event, n, k } of steps) {
    if (event === "gain") expression += `+${n}`;
    else if (event === "gainGroups") expression += `+${k}*${n}`;
    else if (event === "lose") expression += `-${n}`;
    else if (event === "loseGroups") expression += `-${k}*${n}`;
    else if (event === "multiply") expression = `${sum(expression)}*${k}`;
    else expression = `${sum(expression)}//${k}`;
  }
  return expression;
}

function drawSteps(level: Level, random: Random): { start: number; steps: Step[]; count: number } {
  const dials = levels[level];
  const wanted = between(random, dials.steps);
  const start = between(random, dials.start);
  let count = start;
  const steps: Step[] = [];
  while (steps.length < wanted) {
    const event = random.choose(names);
    if (steps.at(-1)?.event === event) continue;
    const many = event === "multiply" || event === "split";
    const step: Step = {
      event,
      n: between(random, dials.number),
      k: between(random, many ? dials.factor : dials.groups),
    };
    const next = after(count, step);
    if (next === undefined) continue;
    count = next;
    steps.push(step);
  }
  return { start, steps, count };
}

/** The steps in words, with what is beside the point between them. */
function tell(level: Level, start: number, steps: readonly Step[], share: Share, random: Random) {
  const speaker = new Speaker(share, random);
  const p = random.choose(heroes);
  const { items, place } = random.choose<Setting>(share === "held" ? heldSettings : settings);
  const gaps = { p, items, place };
  const told: Line[] = steps.map(({ event, n, k }, i) => ({
    sentence: asSentence(speaker.say(events[event], { ...gaps, n, k })),
    sum: expressionOf(start, steps.slice(0, i + 1)),
  }));
  for (let i = 0; i < levels[level].asides; i++) {
    const aside = speaker.say(distractions, { ...gaps, n: 2 + random.integer(58) });
    told.splice(random.integer(told.length + 1), 0, { sentence: asSentence(aside) });
  }
  const first = asSentence(speaker.say(beginnings, { ...gaps, n: start }));
  const lines = [{ sentence: first, sum: String(start) }, ...told];
  const text = [...lines.map(({ sentence }) => sentence), speaker.say(endings, gaps)].join(" ");
  return { text, lines, wordings: speaker.used };
}

const operators = ["+", "-", "*"] as const;

/**
 * Goes through the story sentence by sentence, so that every number is copied from what stands beside it,
 * and computes the whole of it in one sum.
 */
const expert: Expert = (task, results, choose) => {
  const right = String(task.extra["expression"]);
  const [result] = results;
  if (result === undefined) {
    const code = choose(right, (random) => {
      const signs = [...right.matchAll(/\/\/|[-+*]/g)];
      const { index, 0: sign } = random.choose(signs);
      const other = random.choose(operators.filter((operator) => operator !== sign));
      return right.slice(0, index) + other + right.slice(index + sign.length);
    });
    const lines = (task.extra["lines"] as Line[]).flatMap(({ sentence, sum }) =>
      sum === undefined ? [] : `${sentence} ${sum === right ? code : sum}`,
    );
    return {
      text: `<think>${lines.join("\n")}</think><python>${code}</python>`,
      call: { tag: "python", input: code },
    };
  }
  const answer = choose(result.trim(), (random) => random.choose(right.match(/\d+/g)!));
  return { text: `<think>It is ${answer}.</think><answer>\\boxed{${answer}}</answer>` };
};

/** Word problems: a number of things that grows and shrinks in a story, to be computed with Python. */
export function stories(options: NaturalOptions = {}): TaskSet {
  const { seed, sizes, level, shareOf } = natural("stories", options);
  const random = Random.from(seed).split("stories").split(level);
  const parts = fill("stories", random, sizes, (draw, part) => {
    const { start, steps, count } = drawSteps(level as Level, draw);
    const { text, lines, wordings } = tell(level as Level, start, steps, shareOf(part), draw);
    const expression = expressionOf(start, steps);
    const events = steps.map(({ event }) => event);
    return {
      question: text,
      prompt: promptFor(text),
      answer: String(count),
      extra: { level, expression, lines, events, wordings },
    };
  });
  return { name: "stories", ...parts, tools: ["python"], expert };
}
