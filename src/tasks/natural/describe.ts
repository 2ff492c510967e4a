import type { Country, Thing } from "./country.js";
import { landmarkTypes, type Kind } from "./names.js";
import type { RelationName } from "./relations.js";
import type { Speaker, Wording } from "./wording.js";

/** How something is described without its name: by two of its facts. */
const descriptions: Record<Kind, { by: readonly RelationName[]; wording: Wording }> = {
  town: {
    by: ["river", "founded"],
    wording: {
      seen: [
        "the town on the river {river} that was founded in {founded}",
        "the town founded in {founded} on the {river}",
      ],
      held: ["the place by the {river} that goes back to {founded}"],
    },
  },
  person: {
    by: ["trade", "birthplace"],
    wording: {
      seen: [
        "the {trade} who was born in {birthplace}",
        "the {trade} whose birthplace is {birthplace}",
      ],
      held: ["the {trade} who comes from {birthplace}"],
    },
  },
  landmark: {
    by: ["stands", "built"],
    wording: {
      seen: [
        "the {type} in {stands} that was completed in {built}",
        "the {type} of {built} that stands in {stands}",
      ],
      held: ["the {type} that {stands} has had since {built}"],
    },
  },
  company: {
    by: ["makes", "seat"],
    wording: {
      seen: [
        "the company in {seat} that makes {makes}",
        "the maker of {makes} that has its seat in {seat}",
      ],
      held: ["the firm run from {seat} that one buys {makes} from"],
    },
  },
  book: {
    by: ["author", "published"],
    wording: {
      seen: [
        "the book that {author} published in {published}",
        "the book of {published} by {author}",
      ],
      held: ["what {author} brought out in {published}"],
    },
  },
  festival: {
    by: ["held", "month"],
    wording: {
      seen: ["the festival held in {held} in {month}", "the {month} festival of {held}"],
      held: ["what {held} celebrates each {month}"],
    },
  },
};

const typeOf = (name: string): string =>
  landmarkTypes.find((type) => name.toLowerCase().endsWith(type)) ?? "";

/** The relations that a thing is described by: they are told, so they are not asked for. */
export const toldOf = (kind: Kind): readonly RelationName[] => descriptions[kind].by;

/** Whether nothing else in the country is described by the same words. */
export function isOnlyOne(country: Country, thing: Thing): boolean {
  const { by } = descriptions[thing.kind];
  return country.things.every(
    (other) =>
      other === thing ||
      other.kind !== thing.kind ||
      typeOf(other.name) !== typeOf(thing.name) ||
      by.some((name) => other.facts[name] !== thing.facts[name]),
  );
}

/** A thing in words that do not name it. */
export function describeThing(thing: Thing, speaker: Speaker): string {
  const gaps = { ...thing.facts, type: typeOf(thing.name) };
  return speaker.say(descriptions[thing.kind].wording, gaps);
}

/** What an expert searches for where it has a description only: its facts, and what kind of thing it is. */
export function searchFor(thing: Thing): string {
  const { by } = descriptions[thing.kind];
  const values = by.map((name) => thing.facts[name]!);
  return [typeOf(thing.name), ...values].filter((word) => word !== "").join(" ");
}
