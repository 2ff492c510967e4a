import type { Benchmark } from "./benchmark.js";

export const musique: Benchmark = {
  name: "musique",
  title: "MuSiQue",
  task: "qa",
};
