import type { Benchmark } from "./benchmark.js";

export const math500: Benchmark = {
  name: "math500",
  title: "MATH500",
  task: "math",
};
