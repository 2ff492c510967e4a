import type { Task } from "../task.js";
import type { Expert, TaskSet } from "../tasks/task-set.js";
import { createCountry } from "./country.js";
import { natural as dials, type NaturalOptions } from "./wording.js";
import { pages } from "./pages.js";
import { stories } from "./stories.js";
import { trails } from "./trails.js";

/** Tasks of several families dealt out in turn, so that every batch has some of each. */
function dealt(lists: readonly (readonly Task[])[], size: number): Task[] {
  const most = Math.max(...lists.map(({ length }) => length));
  const all = Array.from({ length: most }, (_, i) => lists.flatMap((list) => list[i] ?? []));
  return all.flat().slice(0, size);
}

/** Word problems, look-ups and trails in turn, each at the given level. */
export function natural(options: NaturalOptions = {}): TaskSet {
  const { sizes, country } = dials("natural", options);
  const each = (size: number) => Math.ceil(size / 3);
  const own = { ...options, train: each(sizes.train), test: each(sizes.test) };
  const sets = [stories(own), pages(own), trails(own)];
  const byName = new Map(sets.map((set) => [set.name, set.expert]));
  const expert: Expert = (task, results, choose) =>
    byName.get(task.dataSource)!(task, results, choose);
  return {
    name: "natural",
    train: dealt(
      sets.map(({ train }) => train),
      sizes.train,
    ),
    test: dealt(
      sets.map(({ test }) => test),
      sizes.test,
    ),
    tools: ["python", "search"],
    expert,
    pages: createCountry(country).pages,
  };
}
