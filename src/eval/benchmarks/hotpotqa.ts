import type { Benchmark } from "./benchmark.js";

export const hotpotQa: Benchmark = {
  name: "hotpotqa",
  title: "HotpotQA",
  task: "qa",
};
