import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import { Random } from "../../base/random/random.js";
import {
  type Decide,
  type Expert,
  type TaskSet,
  type TaskSetOptions,
  fill,
  taskSetRules,
} from "./task-set.js";
import {
  type Fact,
  type Relation,
  type World,
  personRelations,
  sentence,
  townRelations,
  world as shipped,
} from "./world.js";

export interface WorldOptions extends TaskSetOptions {
  /** Which world the questions are about. Default: the one that ships. */
  world?: World;
}

/** The relation that somebody asks about by mistake: another one of the same subject. */
function otherRelations(relation: Relation): readonly Relation[] {
  const family = (personRelations as readonly Relation[]).includes(relation)
    ? personRelations
    : townRelations;
  return family.filter((r) => r !== relation);
}

/** The values of a result's pages, but for the right one: what a careless reader takes instead. */
function otherValues(result: string, right: string): string[] {
  const values = [...result.matchAll(/ is (\S+)\.$/gm)].map(([, value]) => value!);
  return values.filter((value) => value !== right);
}

/** A search for one fact, now and then for another fact of the same subject. */
export function searchFor(relation: Relation, subject: string, choose: Decide) {
  const what = choose(relation, (random) => random.choose(otherRelations(relation)));
  const query = `${what} of ${subject}`;
  return {
    text: `<search>${query}</search>`,
    call: { tag: "search", input: query },
  };
}

/** Restates what a result says of a fact, as it must before it can be used; now and then wrongly. */
export function readOff(
  world: World,
  result: string,
  relation: Relation,
  subject: string,
  choose: Decide,
): { value: string; thought: string } {
  const known = world.fact(relation, subject)!;
  const right = result.includes(sentence(known)) ? known.value : "unknown";
  const others = otherValues(result, right);
  const value = others.length > 0 ? choose(right, (random) => random.choose(others)) : right;
  return { value, thought: `<think>The ${relation} of ${subject} is ${value}.</think>` };
}

const expert =
  (world: World): Expert =>
  (task, results, choose) => {
    const { relation, subject } = task.extra as unknown as Fact;
    const [result] = results;
    if (result === undefined) {
      const search = searchFor(relation, subject, choose);
      return { ...search, text: `<think>I look it up.</think>${search.text}` };
    }
    const { value, thought } = readOff(world, result, relation, subject, choose);
    return { text: `${thought}<answer>\\boxed{${value}}</answer>` };
  };

/** One fact about the invented world, to be found by searching. */
export function lookup(options: WorldOptions = {}): TaskSet {
  checkOptions("make tasks", options, {
    ...taskSetRules,
    world: "object?",
  } satisfies OptionRules<WorldOptions>);
  const { seed = 1, train = 288, test = 64, world = shipped } = options;
  const parts = fill("lookup", Random.from(seed).split("lookup"), { train, test }, (random) => {
    const chosen = random.choose(world.facts);
    return {
      question: `What is the ${chosen.relation} of ${chosen.subject}?`,
      answer: chosen.value,
      extra: { relation: chosen.relation, subject: chosen.subject },
    };
  });
  return { name: "lookup", ...parts, tools: ["search"], expert: expert(world) };
}
