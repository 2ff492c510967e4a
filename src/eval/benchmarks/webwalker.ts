import type { Benchmark } from "./benchmark.js";
import { aepoAbstract, publishedModel as model } from "./published.js";

export const webWalker: Benchmark = {
  name: "webwalker",
  title: "WebWalkerQA",
  task: "qa",
  published: [
    { model, algorithm: "AEPO", k: 1, value: 43.0, source: aepoAbstract },
    { model, algorithm: "AEPO", k: 5, value: 70.0, source: aepoAbstract },
  ],
};
