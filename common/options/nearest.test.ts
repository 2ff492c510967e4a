import { equal } from "node:assert/strict";
import { test } from "node:test";
import { nearest as inConfigurations, nearest } from "./nearest.js";

test("nearest() finds what was meant", () => {
  equal(nearest("gpro", ["gae", "opo", "gpg", "grpo"]), "grpo");
  const dotted = ["data.custom_cls.path", "actor_rollout_ref.model.path", "critic.model.path"];
  equal(nearest("model.path", dotted), "actor_rollout_ref.model.path");
  equal(nearest("modle.path", dotted), "actor_rollout_ref.model.path");
  equal(nearest("critic.modelpath", dotted), "critic.model.path");
  equal(nearest("preest", ["n", "preset", "present"]), "preset");
  equal(nearest("entirely", ["n", "preset"]), undefined);
});

test("a slip that gets a hint in a cell gets the same one in a configuration", () => {
  // Three neighbours swapped: three slips, but six letters replaced one by one.
  const known = ["temperature", "top_k"];
  equal(nearest("etmpearutre", known), "temperature");
  equal(inConfigurations("etmpearutre", known), "temperature");
});
