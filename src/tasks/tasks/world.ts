import { checkArguments } from "../../../common/options/check-arguments.js";
import { Random } from "../../base/random/random.js";

/** One thing the world knows, as a page of the corpus says it. */
export interface Fact {
  subject: string;
  relation: Relation;
  value: string;
}

export const townRelations = ["mayor", "river", "founding year", "population"] as const;
export const personRelations = ["birthplace", "trade"] as const;
export type Relation = (typeof townRelations | typeof personRelations)[number];

/** Names are the same in every world: a tokenizer can know them. */
const nameSeed = 1507_19849;
const trades = ["baker", "carver", "fisher", "glazier", "miller", "potter", "smith", "weaver"];
const onsets = [
  "B",
  "D",
  "F",
  "G",
  "H",
  "K",
  "L",
  "M",
  "N",
  "P",
  "R",
  "S",
  "T",
  "V",
  "Z",
  "Br",
  "Dr",
  "Kr",
  "Tr",
];
const middles = ["ar", "el", "im", "on", "ul", "av", "er", "il", "od", "un", "ol", "ev"];
const ends = ["a", "en", "is", "o", "ak", "eth", "ia", "um", "or", "ix"];

function inventNames(count: number, random: Random): string[] {
  const all = onsets.flatMap((o) => middles.flatMap((m) => ends.map((e) => o + m + e)));
  return random.shuffle(all).slice(0, count);
}

/** Invented towns, people and rivers, and what is true of them in one world. */
export interface World {
  towns: readonly string[];
  people: readonly string[];
  rivers: readonly string[];
  trades: readonly string[];
  facts: readonly Fact[];
  /**
   * What the world says of a subject; undefined where it says nothing.
   * @param relation what is asked of it
   * @param subject the name of a person or a place
   */
  fact(relation: string, subject: string): Fact | undefined;
}

const names = inventNames(120 + 12, Random.from(nameSeed).split("names"));
const towns = names.slice(0, 60);
const people = names.slice(60, 120);
const rivers = names.slice(120);

/**
 * An invented world behind `lookup`, `multihop` and `mixed`: 60 towns and 60 people whose names mean
 * nothing, so that no model can know the answers without searching. World 0 is the one that ships;
 * others have the same names and other facts, to learn searching from without learning the answers.
 */
export function createWorld(variant = 0): World {
  const draw = Random.from(nameSeed).split("facts").split(variant);
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
  const index = new Map(facts.map((fact) => [`${fact.relation}/${fact.subject}`, fact]));
  const fact = (relation: string, subject: string) => index.get(`${relation}/${subject}`);
  return { towns, people, rivers, trades, facts, fact };
}

/**
 * The world that ships: its pages are the offline search corpus.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { world } from "arpo-lab/run";
 *
 * const mayor = world.fact("mayor", world.towns[0])!.value;
 * assert.ok(world.people.includes(mayor));
 * ```
 */
export const world: World = createWorld();

/** A fact as the corpus states it. */
export function sentence(fact: Fact): string {
  const { relation, subject, value } = fact;
  return `The ${relation} of ${subject} is ${value}.`;
}

/**
 * A world as pages for a search engine.
 *
 * @param world the world to describe
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { world, worldPages } from "arpo-lab/run";
 *
 * const [page] = worldPages(world); // what offlineSearch({ pages }) searches
 * assert.ok(page.text.includes(world.facts[0].value));
 * ```
 */
export function worldPages(world: World): { id: string; title: string; text: string }[] {
  checkArguments("make pages", { world }, { world: { facts: "list" } });
  const { facts } = world;
  return facts.map((f) => ({
    id: `${f.subject}/${f.relation}`,
    title: `${f.subject}, ${f.relation}`,
    text: sentence(f),
  }));
}
