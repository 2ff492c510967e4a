import { Random } from "../../base/random/random.js";
import { fill, type TaskSet } from "../tasks/task-set.js";
import { createCountry, type Country, type Thing } from "./country.js";
import { describeThing, isOnlyOne, searchFor, toldOf } from "./describe.js";
import { natural, type NaturalOptions, promptFor, type Speaker } from "./wording.js";
import { ask } from "./question.js";
import { relation, relationsOf, type RelationName } from "./relations.js";
import { searchExpert, type LookUp } from "./search-expert.js";

/** The way from a first thing to an answer: what is asked of each page on it. */
interface Trail {
  things: readonly Thing[];
  asked: readonly RelationName[];
}

/** A way of so many pages; undefined where it leads back to where it was. */
function walk(
  country: Country,
  first: Thing,
  hops: number,
  told: readonly string[],
  random: Random,
) {
  const things = [first];
  const asked: RelationName[] = [];
  for (let hop = 1; hop < hops; hop++) {
    const here = things.at(-1)!;
    const onward = relationsOf(here.kind).filter(
      (name) => relation(name).phrase && !(hop === 1 && told.includes(name)),
    );
    if (onward.length === 0) return undefined;
    const chosen = random.choose(onward);
    asked.push(chosen);
    things.push(country.thing(here.facts[chosen]!));
  }
  const last = things.at(-1)!;
  asked.push(random.choose(relationsOf(last.kind)));
  const names = new Set([...things.map(({ name }) => name), last.facts[asked.at(-1)!]!]);
  return names.size === hops + 1 ? ({ things, asked } satisfies Trail) : undefined;
}

/**
 * Questions that take one page to find the next. Level 1 goes over two pages, level 2 over three; level 3
 * goes over two and does not name where it starts.
 */
export function trails(options: NaturalOptions = {}): TaskSet {
  const { seed, sizes, level, country: variant, shareOf } = natural("trails", options);
  const country = createCountry(variant);
  const random = Random.from(seed).split("trails").split(level);
  const hops = level === 2 ? 3 : 2;
  const named = level < 3;
  const parts = fill("trails", random, sizes, (draw, part) => {
    const starts = country.things.filter(
      (thing) =>
        thing.held === (part === "test") &&
        (named || isOnlyOne(country, thing)) &&
        relationsOf(thing.kind).some((name) => relation(name).phrase),
    );
    let trail: Trail | undefined;
    while (!trail) {
      const first = draw.choose(starts);
      trail = walk(country, first, hops, named ? [] : toldOf(first.kind), draw);
    }
    const { things, asked } = trail;
    const subject = (speaker: Speaker) =>
      asked
        .slice(0, -1)
        .reduce(
          (text, name) => speaker.say(relation(name).phrase!, { x: text }),
          named ? things[0]!.name : describeThing(things[0]!, speaker),
        );
    const last = asked.at(-1)!;
    const { text, wordings } = ask(last, subject, { share: shareOf(part), random: draw });
    const lookUps: LookUp[] = things.map(({ name }, i) => ({ of: asked[i]!, subject: name }));
    if (!named) lookUps[0]!.query = searchFor(things[0]!);
    return {
      question: text,
      prompt: promptFor(text),
      answer: things.at(-1)!.facts[last]!,
      extra: { level, plan: { country: variant, lookUps }, wordings },
    };
  });
  return {
    name: "trails",
    ...parts,
    tools: ["search"],
    expert: searchExpert,
    pages: country.pages,
  };
}
