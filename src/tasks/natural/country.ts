import { Random } from "../../base/random/random.js";
import { drawNames, kinds, type Kind } from "./names.js";
import { relation, relationsOf, type RelationName } from "./relations.js";
import { fillGaps } from "./wording.js";

/** Something a page is about. */
export interface Thing {
  kind: Kind;
  name: string;
  /** Values by relation. */
  facts: Readonly<Partial<Record<RelationName, string>>>;
  /** The sentence of the page that states each. */
  sentences: Readonly<Partial<Record<RelationName, string>>>;
  page: { title: string; text: string };
  /** Questions of the test start here, and no question of training does. */
  held: boolean;
}

/** An invented country in prose. */
export interface Country {
  variant: number;
  things: readonly Thing[];
  /** What is searched. */
  pages: readonly Thing["page"][];
  thing(name: string): Thing;
}

const seed = 1601_20260;
const trades =
  `gardener,clockmaker,teacher,painter,sailor,doctor,baker,printer,surveyor,glassblower,carpenter,composer`.split(
    ",",
  );
const products = `paper,rope,cheese,lamps,boots,bells,soap,bricks,sails,buttons,ink,barrels`.split(
  ",",
);
const months =
  `January,February,March,April,May,June,July,August,September,October,November,December`.split(
    ",",
  );

/** What else a page says: true of its subject and never asked for, numbers among it. */
const asides: Record<Kind, readonly string[]> = {
  town: [
    "A fire destroyed the old market in {year}.",
    "The railway came in {year}, and {small} houses had to make room for it.",
    "Its school has {small} classrooms.",
    "The nearest larger town is {small} kilometres away.",
  ],
  person: [
    "A prize followed in {year}.",
    "The family counts {small} cousins.",
    "A portrait from {year} hangs in a private collection.",
    "Friends mention {small} unfinished notebooks.",
  ],
  landmark: [
    "An earlier building on the same spot was pulled down in {year}.",
    "The stairs have {small} steps that visitors complain about.",
    "A storm damaged the roof in {year}.",
    "Entry costs {small} coins.",
  ],
  company: [
    "A strike in {year} lasted {small} days.",
    "The first catalogue listed {small} articles.",
    "The chimney was put up in {year}.",
    "It owns {small} horses and carts.",
  ],
  book: [
    "A translation followed in {year}.",
    "It was sold for {small} coins at first.",
    "The manuscript was lost in {year} and found again.",
    "It is divided into {small} chapters.",
  ],
  festival: [
    "It was cancelled once, in {year}, because of rain.",
    "There are {small} stalls with food.",
    "A parade was added in {year}.",
    "Musicians play for {small} hours.",
  ],
};

const made = new Map<number, Country>();

/**
 * A country of 330 pages in free prose: towns, people, landmarks, companies, books and festivals that are
 * invented, so that what is asked of them must be searched for. Another variant has other names' facts.
 */
export function createCountry(variant = 0): Country {
  const known = made.get(variant);
  if (known) return known;
  const random = Random.from(seed).split(variant);
  const names = drawNames(random.split("names"));
  const things = kinds.flatMap((kind) =>
    names[kind].map((name, i) => describe(kind, name, i % 4 === 0, names, random.split(name))),
  );
  const index = new Map(things.map((thing) => [thing.name, thing]));
  const country: Country = {
    variant,
    things,
    pages: things.map(({ page }) => page),
    thing: (name) => {
      const found = index.get(name);
      if (found) return found;
      throw new RangeError(`Cannot find a page: the country must have it, got ${name}`);
    },
  };
  if (made.size < 8) made.set(variant, country);
  return country;
}

function describe(
  kind: Kind,
  name: string,
  held: boolean,
  names: ReturnType<typeof drawNames>,
  random: Random,
): Thing {
  const facts: Partial<Record<RelationName, string>> = {};
  const sentences: Partial<Record<RelationName, string>> = {};
  for (const of of relationsOf(kind)) {
    const { value, says } = relation(of);
    const v = draw(of, value, name, names, random.split(of));
    facts[of] = v;
    sentences[of] = fillGaps(random.choose(says), { x: name, v });
  }
  const aside = () =>
    fillGaps(random.choose(asides[kind]), {
      year: 1500 + random.integer(480),
      small: 3 + random.integer(90),
    });
  const others = [...new Set([aside(), aside()])];
  const text = random.shuffle([...Object.values(sentences), ...others]).join(" ");
  return { kind, name, facts, sentences, page: { title: name, text }, held };
}

const counts: Partial<Record<RelationName, readonly [number, number]>> = {
  population: [300, 48_000],
  height: [11, 140],
  workers: [14, 900],
  length: [80, 700],
  visitors: [200, 30_000],
};

function draw(
  of: RelationName,
  value: "year" | "count" | "word" | Kind,
  self: string,
  names: ReturnType<typeof drawNames>,
  random: Random,
): string {
  if (value === "year") return String((of === "founded" ? 1050 : 1700) + random.integer(250));
  if (value === "count") {
    const [least, most] = counts[of]!;
    return String(least + random.integer(most - least));
  }
  if (value === "word") {
    const lists = { river: names.rivers, trade: trades, makes: products, month: months };
    return random.choose(lists[of as keyof typeof lists]);
  }
  return random.choose(names[value].filter((name) => name !== self));
}
