import type { Benchmark } from "./benchmark.js";

export const aime25: Benchmark = {
  name: "aime25",
  title: "AIME 2025",
  task: "math",
  question: "problem",
};
