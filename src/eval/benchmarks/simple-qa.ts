import type { Benchmark } from "./benchmark.js";

export const simpleQa: Benchmark = {
  name: "SimpleQA",
  title: "SimpleQA",
  task: "qa",
};
