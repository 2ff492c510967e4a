import { Random } from "../../random/index.js";

/** One thing the world knows, as a page of the corpus says it. */
export interface Fact {
  subject: string;
  relation: Relation;
  value: string;
}

export const townRelations = ["mayor", "river", "founding year", "population"] as const;
export const personRelations = ["birthplace", "trade"] as const;
export const relations = [...townRelations, ...personRelations] as const;
export type Relation = (typeof relations)[number];

/** The world is the same for everybody: tasks choose from it, seeds do not change it. */
const worldSeed = 1507_19849;
const trades = ["baker", "carver", "fisher", "glazier", "miller", "potter", "smith", "weaver"];
const onsets = ["B", "D", "F", "G", "H", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Z", "Br", "Dr", "Kr", "Tr"];
const middles = ["ar", "el", "im", "on", "ul", "av", "er", "il", "od", "un", "ol", "ev"];
const ends = ["a", "en", "is", "o", "ak", "eth", "ia", "um", "or", "ix"];

function inventNames(count: number, random: Random): string[] {
  const all = onsets.flatMap((o) => middles.flatMap((m) => ends.map((e) => o + m + e)));
  return random.shuffle(all).slice(0, count);
}

function build() {
  const random = Random.from(worldSeed);
  const names = inventNames(120 + 12, random.split("names"));
  const towns = names.slice(0, 60);
  const people = names.slice(60, 120);
  const rivers = names.slice(120);
  const draw = random.split("facts");
  // Every person is the mayor of one town, so that a mayor leads on to one birthplace.
  const mayors = draw.shuffle(people);
  const facts: Fact[] = towns.flatMap((subject, i) => [
    { subject, relation: "mayor" as const, value: mayors[i]! },
    { subject, relation: "river" as const, value: draw.choose(rivers) },
    { subject, relation: "founding year" as const, value: String(1000 + draw.integer(900)) },
    { subject, relation: "population" as const, value: String(100 + draw.integer(9900)) },
  ]);
  for (const subject of people) {
    facts.push({ subject, relation: "birthplace", value: draw.choose(towns) });
    facts.push({ subject, relation: "trade", value: draw.choose(trades) });
  }
  return { towns, people, rivers, facts };
}

/**
 * The invented world behind `lookup`, `multihop` and `mixed`: 60 towns and 60 people whose names mean
 * nothing, so that no model can know the answers without searching.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { sentence, world } from "arpo-lab/data";
 *
 * assert.equal(world.facts.length, 360);
 * assert.match(sentence(world.facts[0]), /^The mayor of [A-Z][a-z]+ is [A-Z][a-z]+\.$/);
 * ```
 */
export const world: Readonly<ReturnType<typeof build>> & { trades: readonly string[] } = {
  ...build(),
  trades,
};

/** A fact as the corpus states it. */
export function sentence({ relation, subject, value }: Fact): string {
  return `The ${relation} of ${subject} is ${value}.`;
}

const index = new Map(world.facts.map((fact) => [`${fact.relation}/${fact.subject}`, fact]));

/** What the world says of a subject; undefined where it says nothing. */
export function fact(relation: string, subject: string): Fact | undefined {
  return index.get(`${relation}/${subject}`);
}

/** The world as pages for a search engine. */
export function worldPages(): { id: string; title: string; text: string }[] {
  return world.facts.map((f) => ({
    id: `${f.subject}/${f.relation}`,
    title: `${f.subject}, ${f.relation}`,
    text: sentence(f),
  }));
}
