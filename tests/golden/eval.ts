import type { Runners } from "./runner.js";

export const runners: Runners = {};
