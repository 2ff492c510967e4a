import type { Benchmark } from "./benchmark.js";

export const twoWiki: Benchmark = {
  name: "2wiki",
  title: "2WikiMultihopQA",
  task: "qa",
};
