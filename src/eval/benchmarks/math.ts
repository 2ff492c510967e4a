import type { Benchmark } from "./benchmark.js";

export const math: Benchmark = {
  name: "math",
  title: "MATH",
  task: "math",
  question: "problem",
};
