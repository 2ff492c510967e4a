import type { Expert } from "../tasks/task-set.js";
import { createCountry, type Thing } from "./country.js";
import { relation, relationsOf, type RelationName } from "./relations.js";

/** A fact to look up: of a thing by its name, or of what an earlier look-up found. */
export interface LookUp {
  of: RelationName;
  /** The thing's name. */
  subject: string;
  /** What is searched for; the name and the relation's own words unless told. */
  query?: string;
}

/** What a task's expert works by, and solvers in tests do not. */
export interface SearchPlan {
  country: number;
  lookUps: readonly LookUp[];
  /** What is computed of the values found, in their order; without it the last value is the answer. */
  compute?: "difference";
}

/** The value that a result states of a thing, as somebody reads it who may err. */
function read(result: string, thing: Thing, of: RelationName): string {
  return result.includes(thing.sentences[of]!) ? thing.facts[of]! : "unknown";
}

/** Searches, reads, continues to the next page, computes, answers. */
export const searchExpert: Expert = (task, results, choose) => {
  const { country, lookUps, compute } = task.extra["plan"] as SearchPlan;
  const { thing } = createCountry(country);
  const found = (i: number): string => {
    const { subject, of } = lookUps[i]!;
    const about = thing(subject);
    const right = read(results[i]!, about, of);
    // Another number or name of the same page: the slip of a careless reader.
    return choose(right, (random) => random.choose(Object.values(about.facts)));
  };
  const values: string[] = [];
  const last = Math.min(results.length, lookUps.length);
  const thoughts: string[] = [];
  if (last > 0) {
    const value = found(last - 1);
    const { subject, of } = lookUps[last - 1]!;
    thoughts.push(`The ${relation(of).name} of ${subject} is ${value}.`);
    values.push(value);
  }
  if (results.length < lookUps.length) {
    const { subject, of, query } = lookUps[results.length]!;
    const wanted = choose(of, (random) => random.choose(relationsOf(thing(subject).kind)));
    const searched = query ?? `${subject} ${relation(wanted).query}`;
    thoughts.push(
      query === undefined
        ? `I look up the ${relation(wanted).name} of ${subject}.`
        : `I search for what is described.`,
    );
    return {
      text: `<think>${thoughts.join(" ")}</think><search>${searched}</search>`,
      call: { tag: "search", input: searched },
    };
  }
  if (compute === "difference") {
    if (results.length === lookUps.length) {
      const [a, b] = lookUps.map((_, i) => (i === last - 1 ? values[0]! : found(i)));
      const numbers = [a!, b!].map((text) => (/^\d+$/.test(text) ? Number(text) : 0));
      const code = `${Math.max(...numbers)}-${Math.min(...numbers)}`;
      thoughts.push(`The difference is ${code}.`);
      return {
        text: `<think>${thoughts.join(" ")}</think><python>${code}</python>`,
        call: { tag: "python", input: code },
      };
    }
    const answer = results.at(-1)!.trim();
    return { text: `<think>It is ${answer}.</think><answer>\\boxed{${answer}}</answer>` };
  }
  return {
    text: `<think>${thoughts.join(" ")}</think><answer>\\boxed{${values[0]!}}</answer>`,
  };
};
