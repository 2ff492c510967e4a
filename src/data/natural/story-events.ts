import type { Wording } from "./wording.js";

const w = (seen: readonly string[], held: readonly string[]): Wording => ({ seen, held });

/** What stories are told with: {p} is a person, {items} are counted, {place} is where. */
export const heroes = `Maren,Olo,Tilda,Bram,Edda,Joss,Kaya,Lorne,Mira,Nils,Orla,Rosa,Sven,Tove`.split(",");
export interface Setting {
  items: string;
  place: string;
}
export const settings: readonly Setting[] = [
  ...[{ items: "apples", place: "orchard" }, { items: "books", place: "library" }],
  ...[{ items: "candles", place: "workshop" }, { items: "tickets", place: "theatre" }],
  ...[{ items: "loaves", place: "bakery" }, { items: "bricks", place: "yard" }],
  ...[{ items: "bottles", place: "cellar" }, { items: "seedlings", place: "greenhouse" }],
  ...[{ items: "letters", place: "post office" }, { items: "tiles", place: "pottery" }],
];
/** Other things of the same kind, in the test only. */
export const heldSettings: readonly Setting[] = [
  ...[{ items: "lanterns", place: "harbour" }, { items: "jars", place: "pantry" }],
  ...[{ items: "ropes", place: "boathouse" }, { items: "coins", place: "museum" }],
];

export const beginnings = w(
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
export const events = {
  gain: w(
    [
      "Then {n} more {items} are delivered.",
      "{p} buys {n} more {items}.",
      "A neighbour brings another {n} {items}.",
      "Later {n} {items} come back.",
    ],
    ["On top of that {p} is given {n} {items}.", "A forgotten box with {n} further {items} turns up."],
  ),
  gainGroups: w(
    [
      "{k} crates arrive, each with {n} {items}.",
      "{p} orders {k} boxes of {n} {items} each.",
      "For {k} days in a row, {n} {items} are added a day.",
    ],
    ["A cart unloads {k} sacks, and every sack holds {n} {items}.", "Each of {k} friends contributes {n} {items}."],
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
    ["{k} schools are supplied, every one with {n} {items}.", "Each of {k} carts leaves with {n} {items}."],
  ),
  multiply: w(
    [
      "By the end of the month there are {k} times as many {items}.",
      "The number of {items} then becomes {k} times as large.",
    ],
    ["A good season makes {k} of every one of the {items}.", "Soon {p} counts {k} times what there was."],
  ),
  split: w(
    [
      "The {items} are shared equally among {k} shelves, and {p} goes on with what is on one shelf.",
      "{p} divides them into {k} equal parts and keeps one part.",
    ],
    ["Of {k} equal heaps, only one stays in the {place}.", "{k} partners split the {items} evenly; {p} is one of them."],
  ),
} as const;
export type EventName = keyof typeof events;

/** True, and beside the point. */
export const distractions = w(
  [
    "{p} is {n} years old.",
    "The {place} was opened {n} years ago.",
    "It is {n} kilometres to the next town.",
    "The door has the number {n}.",
  ],
  ["{p} gets up at {n} minutes past six.", "A cat called Button, {n} months old, watches.", "The roof was mended {n} weeks ago."],
);

export const endings = w(
  [
    "How many {items} are there now?",
    "How many {items} does {p} have at the end?",
    "What is the number of {items} in the end?",
    "How many {items} are left after all this?",
  ],
  ["With how many {items} does the story end?", "Count them: how many {items} remain with {p}?"],
);
