import type { Benchmark } from "./benchmark.js";
import { aepoAbstract, arpoReadme, publishedModel as model } from "./published.js";

export const hle: Benchmark = {
  name: "hle",
  title: "Humanity's Last Exam",
  task: "qa",
  published: [
    { model, algorithm: "ARPO", k: 5, value: 24.0, source: arpoReadme },
    { model, algorithm: "AEPO", k: 1, value: 11.2, source: aepoAbstract },
    { model, algorithm: "AEPO", k: 5, value: 26.0, source: aepoAbstract },
  ],
};
