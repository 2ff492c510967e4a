import type { Benchmark } from "./benchmark.js";

export const aime24: Benchmark = {
  name: "aime24",
  title: "AIME 2024",
  task: "math",
};
