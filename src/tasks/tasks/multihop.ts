import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import { Random } from "../../base/random/random.js";
import { type WorldOptions, readOff, searchFor } from "./lookup.js";
import { type Expert, type TaskSet, fill, taskSetRules } from "./task-set.js";
import { type Relation, type World, personRelations, world as shipped } from "./world.js";

const expert =
  (world: World): Expert =>
  (task, results, choose) => {
    const { relation, town } = task.extra as { relation: Relation; town: string };
    const [first, second] = results;
    if (first === undefined) {
      const search = searchFor("mayor", town, choose);
      return { ...search, text: `<think>I look up the mayor.</think>${search.text}` };
    }
    const mayor = world.fact("mayor", town)!.value;
    if (second === undefined) {
      const { value, thought } = readOff(world, first, "mayor", town, choose);
      const search = searchFor(relation, value === "unknown" ? mayor : value, choose);
      return { ...search, text: thought + search.text };
    }
    const { value, thought } = readOff(world, second, relation, mayor, choose);
    return { text: `${thought}<answer>\\boxed{${value}}</answer>` };
  };

/** Two facts in a row: something about the mayor of a town. */
export function multihop(options: WorldOptions = {}): TaskSet {
  checkOptions("make tasks", options, {
    ...taskSetRules,
    world: "object?",
  } satisfies OptionRules<WorldOptions>);
  const { seed = 1, train = 88, test = 32, world = shipped } = options;
  const parts = fill("multihop", Random.from(seed).split("multihop"), { train, test }, (random) => {
    const town = random.choose(world.towns);
    const relation = random.choose(personRelations);
    return {
      question: `What is the ${relation} of the mayor of ${town}?`,
      answer: world.fact(relation, world.fact("mayor", town)!.value)!.value,
      extra: { relation, town },
    };
  });
  return { name: "multihop", ...parts, tools: ["search"], expert: expert(world) };
}
