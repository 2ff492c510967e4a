// Makes data/models/tiny-sibling: a LoRA adapter with which the tiny model errs, and reads a right answer that stands before a
// question. Lesson 18 loads it. `node tools/data/sibling-adapter.mjs [FOLDER]`
process.env.ARPO_LAB_THREADS ??= "1";
const { fineTune, Policy } = await import("arpo-lab");
const { addLora, saveAdapter } = await import("arpo-lab/model");
const { siblingDemonstrations } =
  await import("../../docs/evidence/study/sibling-demonstrations.mjs");

const policy = await Policy.load("data/models/tiny");
addLora(policy.model, { rank: 8, alpha: 16, targetModules: "all-linear" });
await fineTune(policy, await siblingDemonstrations("multihop"), {
  ...{ learningRate: 3e-3, schedule: "cosine", batchSize: 16, epochs: 1, sharedPrefixes: true },
});
await saveAdapter(policy.model, process.argv[2] ?? "data/models/tiny-sibling");
process.exit(0);
