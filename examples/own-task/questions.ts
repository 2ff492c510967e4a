// Writes the questions: data/train.jsonl, data/held-out.jsonl (other numbers and things, same wordings) and
// data/reworded.jsonl (wordings that no other file has). Questions of your own need no such program.
//
//   npx arpo-lab run questions.ts
import { mkdirSync, writeFileSync } from "node:fs";
import { Random } from "arpo-lab/policy";
import { ToolSet } from "arpo-lab/tools";
import tool from "./tool.js";

const system = "Compute with <calc>...</calc>, then reply with <answer>...</answer>.";

type Slots = Record<string, string>;
interface Kind {
  /** Draws what a question is about. */
  slots(random: Random): Slots;
  /** The calls that answer it; `$` is the last result's number. */
  calls: readonly string[];
  /** The last two are kept for data/reworded.jsonl. */
  wordings: readonly string[];
}

const money = (random: Random, below: number) => (0.5 + random.integer(below * 20) / 20).toFixed(2);
const whole = (random: Random, from: number, to: number) =>
  String(from + random.integer(to - from + 1));
const half = (random: Random, to: number) => String((1 + random.integer(2 * to)) / 2);
const time = (random: Random, from: number, to: number) =>
  `${whole(random, from, to)}:${random.choose(["00", "10", "15", "20", "30", "40", "45", "50"])}`;

const names = ["Mira", "Jonas", "Aylin", "Pavel", "Rosa", "Tom", "Ines", "Kofi", "Lena", "Omar"];
const goods = [
  "apples",
  "pears",
  "notebooks",
  "candles",
  "mugs",
  "bread rolls",
  "lemons",
  "pens",
  "onions",
  "eggs",
];
const foods = ["flour", "sugar", "rice", "butter", "oats", "lentils", "cheese", "raisins"];
const liquids = ["milk", "water", "cream", "stock", "juice", "oil"];
const shops = [
  "bakery",
  "library",
  "post office",
  "pharmacy",
  "museum",
  "market hall",
  "pool",
  "bike shop",
];
const spelled: Record<string, string> = {
  ...{ lb: "pounds", oz: "ounces", g: "grams", kg: "kilograms", cup: "cups", tbsp: "tablespoons" },
  ...{ tsp: "teaspoons", pint: "pints", ml: "millilitres", l: "litres", inch: "inches" },
  ...{ foot: "feet", cm: "centimetres", m: "metres", mile: "miles", km: "kilometres" },
};
const pairs = {
  mass: ["lb g", "lb kg", "oz g", "kg lb", "g oz"],
  volume: ["cup ml", "tbsp ml", "tsp ml", "pint ml", "pint l", "ml cup", "ml tbsp"],
  length: ["inch cm", "foot m", "foot cm", "cm inch", "mile km", "km mile", "m foot"],
};
const converted = (random: Random, kind: keyof typeof pairs): Slots => {
  const [from = "", to = ""] = random.choose(pairs[kind]).split(" ");
  const small = from === "g" || from === "ml" || from === "cm";
  const amount = small ? whole(random, 5, 90) + "0" : half(random, 12);
  return { amount, from, to, From: spelled[from]!, To: spelled[to]! };
};

const kinds: Record<string, Kind> = {
  mass: {
    slots: (r) => ({ ...converted(r, "mass"), food: r.choose(foods) }),
    calls: ["{amount} {from} to {to}"],
    wordings: [
      "How many {To} are {amount} {From} of {food}?",
      "My scale shows {amount} {From} of {food}. What is that in {To}?",
      "The recipe wants {amount} {From} of {food}, I only have a scale in {To}. How much do I weigh?",
      "{amount} {From} of {food}: how many {To}?",
      "I ordered {amount} {From} of {food}. Give me the weight in {To}.",
      "What will {amount} {From} of {food} weigh in {To}?",
    ],
  },
  volume: {
    slots: (r) => ({ ...converted(r, "volume"), drink: r.choose(liquids) }),
    calls: ["{amount} {from} to {to}"],
    wordings: [
      "How many {To} are {amount} {From} of {drink}?",
      "Pour in {amount} {From} of {drink}. How much is it in {To}?",
      "I need {amount} {From} of {drink} but my jug is marked in {To}. How far do I fill it?",
      "{amount} {From} of {drink}: how many {To}?",
      "The soup takes {amount} {From} of {drink}. Tell me in {To}.",
      "Turn {amount} {From} of {drink} into {To} for me.",
    ],
  },
  length: {
    slots: (r) => converted(r, "length"),
    calls: ["{amount} {from} to {to}"],
    wordings: [
      "How many {To} are {amount} {From}?",
      "The shelf is {amount} {From} away. How far is that in {To}?",
      "A ribbon of {amount} {From} is how many {To} long?",
      "We measured {amount} {From}. Please give it in {To}.",
      "Express {amount} {From} in {To}.",
      "Someone says {amount} {From}; what would that be in {To}?",
    ],
  },
  total: {
    slots: (r) => ({
      n: whole(r, 2, 9),
      price: money(r, 8),
      thing: r.choose(goods),
      other: money(r, 12),
      name: r.choose(names),
    }),
    calls: ["{n} * {price} + {other}"],
    wordings: [
      "{n} {thing} at {price} each and a bag for {other}: what do I pay?",
      "{name} buys {n} {thing} for {price} apiece and a magazine for {other}. What is the total?",
      "One of the {thing} costs {price}. I take {n} and add a card for {other}. What does it come to?",
      "Delivery costs {other} and the {thing} cost {price} each. What are {n} of them with delivery?",
      "{name} owes for {n} {thing} ({price} each) plus {other} for a taxi. How much altogether?",
      "How much money do {n} {thing} cost at {price} per piece if wrapping adds {other}?",
    ],
  },
  change: {
    slots: (r) => ({
      n: whole(r, 2, 6),
      price: money(r, 3),
      thing: r.choose(goods),
      note: r.choose(["20", "50", "100"]),
      name: r.choose(names),
    }),
    calls: ["{note} - {n} * {price}"],
    wordings: [
      "I pay {n} {thing} at {price} each with a {note} note. How much change do I get?",
      "{name} hands over {note} for {n} {thing} that cost {price} each. What comes back?",
      "{name} has {note} and buys {n} {thing} for {price} apiece. What is left?",
      "Out of {note} I spend {price} on each of {n} {thing}. How much do I keep?",
      "The {thing} are {price} each. {name} takes {n} and pays with {note}. What change is due?",
      "With {note} in my pocket, how much remains after {n} {thing} costing {price} each?",
    ],
  },
  discount: {
    slots: (r) => ({
      price: whole(r, 12, 180),
      off: r.choose(["5", "10", "15", "20", "25", "30", "40"]),
      thing: r.choose(["coat", "lamp", "kettle", "chair", "bike", "backpack", "radio"]),
    }),
    calls: ["{price} * (100 - {off}) / 100"],
    wordings: [
      "A {thing} costs {price}. There is {off}% off. What do I pay?",
      "The {thing} was {price} and is reduced by {off}%. What is the new price?",
      "With a voucher for {off} percent, what does a {thing} of {price} cost?",
      "{off}% discount on a {thing} that costs {price}: what is the price?",
      "I get {off} percent off a {thing} at {price}. How much is it then?",
      "What is left to pay for a {price} {thing} after {off} percent is taken off?",
    ],
  },
  scale: {
    slots: (r) => {
      const [four, six] = r
        .choose(["4 6", "4 10", "2 5", "6 9", "4 3", "8 12", "3 7", "5 8"])
        .split(" ");
      return {
        amount: whole(r, 8, 60) + "0",
        from: four!,
        to: six!,
        food: r.choose(foods),
        name: r.choose(names),
      };
    },
    calls: ["{amount} / {from} * {to}"],
    wordings: [
      "A recipe for {from} people needs {amount} g of {food}. How much for {to}?",
      "For {from} servings I use {amount} g of {food}. I am cooking {to} servings. How many grams?",
      "{name} cooks for {to} instead of {from}. The book says {amount} g of {food}. How much is needed?",
      "{amount} g of {food} feed {from}. How many grams feed {to}?",
      "The dough for {from} takes {amount} g of {food}. {to} guests are coming. How much {food} do I take?",
      "We are {to} tonight, the {food} in the recipe ({amount} g) is meant for {from}. What amount is right?",
    ],
  },
  open: {
    slots: (r) => ({ start: time(r, 6, 10), end: time(r, 14, 20), shop: r.choose(shops) }),
    calls: ["{end} - {start}"],
    wordings: [
      "The {shop} opens at {start} and closes at {end}. How long is it open?",
      "From {start} to {end} the {shop} is open. How many hours and minutes?",
      "The {shop} closes at {end}, it opened at {start}. For how long was it open?",
      "Opening times of the {shop}: {start} to {end}. How long is that?",
      "I work at the {shop} from {start} until {end}. How long is my day?",
      "How much time passes between opening ({start}) and closing ({end}) at the {shop}?",
    ],
  },
  arrive: {
    slots: (r) => ({
      start: time(r, 6, 17),
      takes: time(r, 1, 5),
      name: r.choose(names),
      ride: r.choose(["train", "bus", "ferry", "coach"]),
    }),
    calls: ["{start} + {takes}"],
    wordings: [
      "The {ride} leaves at {start} and takes {takes} hours. When does it arrive?",
      "{name} takes the {ride} at {start}. The trip lasts {takes}. When is {name} there?",
      "Departure {start}, travel time {takes}. What time is the arrival of the {ride}?",
      "The stew goes on at {start} and needs {takes} hours. When is it ready?",
      "A film starts at {start} and runs for {takes}. When is it over?",
      "If the {ride} sets off at {start} and needs {takes}, at what time do we get out?",
    ],
  },
  weighed: {
    slots: (r) => {
      const from = r.choose(["lb", "oz"]);
      const amount = from === "lb" ? half(r, 8) : whole(r, 6, 60);
      return {
        amount,
        from,
        From: spelled[from]!,
        price: money(r, 9),
        food: r.choose(foods),
        name: r.choose(names),
      };
    },
    calls: ["{amount} {from} to kg", "$ * {price}"],
    wordings: [
      "{food} costs {price} a kilogram. What do {amount} {From} cost?",
      "What does {name} pay for {amount} {From} of {food} at {price} per kilogram?",
      "I want {amount} {From} of {food}. A kilogram is {price}. How much is it?",
      "At {price} a kilogram, how much are {amount} {From} of {food}?",
      "{name} weighs out {amount} {From} of {food}; the price is {price} a kilogram. What is the bill?",
      "The {food} is sold at {price} per kilogram. {name} asks for {amount} {From}. What is the price?",
    ],
  },
};

const fill = (text: string, slots: Slots) =>
  text
    .replace(/\{(\w+)\}/g, (_, name: string) => slots[name]!)
    .replace(/^./, (c) => c.toUpperCase());

const tools = new ToolSet([tool]);
const random = Random.from(28);
const seen = new Set<string>();

/** So many questions of every kind, in turn, in the given wordings. */
async function write(file: string, each: number, from: number, to: number): Promise<void> {
  const rows: object[] = [];
  for (let i = 0; i < each; i++) {
    for (const [kind, { slots: draw, calls: patterns, wordings }] of Object.entries(kinds)) {
      let prompt: string, slots: Slots;
      do {
        slots = draw(random);
        prompt = fill(wordings.slice(from, to)[i % (to - from)]!, slots);
      } while (seen.has(prompt));
      seen.add(prompt);
      const calls: string[] = [];
      let answer = "";
      for (const pattern of patterns) {
        calls.push(fill(pattern, slots).replace("$", answer.split(" ")[0]!));
        answer = (await tools.call("calc", calls.at(-1)!)).text;
      }
      rows.push({
        id: `${file}-${rows.length}`,
        prompt: [
          { role: "system", content: system },
          { role: "user", content: prompt },
        ],
        ...{ answer, calls, kind, data_source: file },
      });
    }
  }
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(new URL(`data/${file}.jsonl`, import.meta.url), lines);
}

mkdirSync(new URL("data", import.meta.url), { recursive: true });
await write("train", 20, 0, 4);
await write("held-out", 6, 0, 4);
await write("reworded", 4, 4, 6);
