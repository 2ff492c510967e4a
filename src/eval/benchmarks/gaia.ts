import type { Benchmark } from "./benchmark.js";
import { aepoAbstract, arpoReadme, publishedModel as model } from "./published.js";

export const gaia: Benchmark = {
  name: "gaia",
  title: "GAIA",
  task: "qa",
  question: "Question",
  published: [
    { model, algorithm: "ARPO", k: 5, value: 61.2, source: arpoReadme },
    { model, algorithm: "AEPO", k: 1, value: 47.6, source: aepoAbstract },
    { model, algorithm: "AEPO", k: 5, value: 65.0, source: aepoAbstract },
  ],
};
