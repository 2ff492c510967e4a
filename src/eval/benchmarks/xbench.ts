import type { Benchmark } from "./benchmark.js";

export const xbench: Benchmark = {
  name: "xbench",
  title: "xbench-DeepSearch",
  task: "qa",
};
