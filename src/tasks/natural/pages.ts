import { Random } from "../../base/random/random.js";
import { fill, type TaskSet } from "../tasks/task-set.js";
import { createCountry, type Thing } from "./country.js";
import { describeThing, isOnlyOne, searchFor, toldOf } from "./describe.js";
import {
  asSentence,
  natural,
  type NaturalOptions,
  promptFor,
  type Share,
  Speaker,
  type Wording,
} from "./wording.js";
import { ask } from "./question.js";
import { relationsOf } from "./relations.js";
import { searchExpert, type SearchPlan } from "./search-expert.js";

const differences: Wording = {
  seen: [
    "How many years lie between the founding of {a} and that of {b}?",
    "{a} and {b} were founded in different years. How many years apart are they?",
    "By how many years do the ages of the towns {a} and {b} differ?",
  ],
  held: [
    "Of {a} and {b}, one town is older. By how many years?",
    "How many years passed from when the first of {a} and {b} was founded until the second was?",
  ],
};

interface Drawn {
  question: string;
  answer: string;
  plan: SearchPlan;
  wordings: readonly string[];
}

function byName(thing: Thing, country: number, share: Share, random: Random): Drawn {
  const of = random.choose(relationsOf(thing.kind));
  const { text, wordings } = ask(of, () => thing.name, { share, random });
  const plan = { country, lookUps: [{ of, subject: thing.name }] };
  return { question: text, answer: thing.facts[of]!, plan, wordings };
}

function byDescription(thing: Thing, country: number, share: Share, random: Random): Drawn {
  const told = toldOf(thing.kind);
  const of = random.choose(relationsOf(thing.kind).filter((name) => !told.includes(name)));
  const subject = (speaker: Speaker) => describeThing(thing, speaker);
  const { text, wordings } = ask(of, subject, { share, random });
  const lookUps = [{ of, subject: thing.name, query: searchFor(thing) }];
  return { question: text, answer: thing.facts[of]!, plan: { country, lookUps }, wordings };
}

function difference(towns: readonly Thing[], country: number, share: Share, random: Random): Drawn {
  const [a, b] = random.shuffle(towns);
  const speaker = new Speaker(share, random);
  const question = asSentence(speaker.say(differences, { a: a!.name, b: b!.name }));
  const answer = Math.abs(Number(a!.facts.founded) - Number(b!.facts.founded));
  const lookUps = [a!, b!].map(({ name }) => ({ of: "founded" as const, subject: name }));
  const plan: SearchPlan = { country, lookUps, compute: "difference" };
  return { question, answer: String(answer), plan, wordings: speaker.used };
}

/**
 * Look-ups phrased freely over a country of 330 pages. Level 1 names what it asks about, level 2 describes
 * it, level 3 asks how two pages differ, which takes Python too.
 */
export function pages(options: NaturalOptions = {}): TaskSet {
  const { seed, sizes, level, country, shareOf } = natural("pages", options);
  const own = createCountry(country);
  const random = Random.from(seed).split("pages").split(level);
  const parts = fill("pages", random, sizes, (draw, part) => {
    const asked = own.things.filter(({ held }) => held === (part === "test"));
    const share = shareOf(part);
    let drawn: Drawn;
    if (level === 3) {
      drawn = difference(
        asked.filter(({ kind }) => kind === "town"),
        country,
        share,
        draw,
      );
    } else if (level === 2) {
      const unlike = draw.shuffle(asked).find((thing) => isOnlyOne(own, thing))!;
      drawn = byDescription(unlike, country, share, draw);
    } else drawn = byName(draw.choose(asked), country, share, draw);
    const { question, answer, plan, wordings } = drawn;
    return { question, prompt: promptFor(question), answer, extra: { level, plan, wordings } };
  });
  return {
    ...{ name: "pages", ...parts, expert: searchExpert },
    tools: level === 3 ? ["search", "python"] : ["search"],
    pages: own.pages,
  };
}
