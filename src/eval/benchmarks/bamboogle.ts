import type { Benchmark } from "./benchmark.js";

export const bamboogle: Benchmark = {
  name: "bamboogle",
  title: "Bamboogle",
  task: "qa",
};
