import { equal } from "node:assert/strict";
import { test } from "node:test";
import { nearest as inConfigurations, nearest } from "./nearest.js";

test("nearest() finds what was meant", () => {
  equal(nearest("preest", ["n", "preset", "present"]), "preset");
  equal(nearest("entirely", ["n", "preset"]), undefined);
});

test("a slip that gets a hint in a cell gets the same one in a configuration", () => {
  // Three neighbours swapped: three slips, but six letters replaced one by one.
  const known = ["temperature", "top_k"];
  equal(nearest("etmpearutre", known), "temperature");
  equal(inConfigurations("etmpearutre", known), "temperature");
});
