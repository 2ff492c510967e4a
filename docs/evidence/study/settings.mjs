// What docs/evidence/preregistration.md and preregistration-real.md fix.
export const families = ["multihop", "mixed", "lookup", "calc"];
export const checkpoints = ["shipped", "early", "late"];
export const controls = ["errs-late", "errs-early", "saturated"];
export const prompts = { multihop: 120, mixed: 200, lookup: 200, calc: 200 };
export const limits = { responseLength: 200, callLimit: 3 };
export const measured = { K: 16, group: 8, sure: 0.99, seed: 41, ...limits };
export const tasksSeed = 2026;
export const decisions = { prompts: 40, seed: 43 };
export const bootstrap = { draws: 2000, seed: 0 };
export const confirmatory = 7;

const named = (cell) => ({ ...cell, name: `${cell.family}-${cell.checkpoint}` });

/** Part A on tiny models: every cell in the order of the tables, the controls last. */
export const tiny = {
  ...{ page: "README.md", data: "data", figure: "around-a-result.svg" },
  ...{ label: "four families, three checkpoints", checkpoints, vocabulary: 608 },
  ...{ equal: [0.95, 1.05], several: ["multihop", "mixed"] },
  ...{ measured, decisions },
  cells: [
    ...checkpoints.flatMap((checkpoint) => families.map((family) => ({ family, checkpoint }))),
    ...controls.map((checkpoint) => ({ family: "multihop", checkpoint, control: true })),
  ].map((cell) => named({ ...cell, planned: prompts[cell.family] })),
};

/** Part A on SmolLM2-135M, as the recipe of docs/evidence/real-curves leaves it after SFT and after ARPO. */
export const real = {
  ...{ page: "real-model.md", data: "data/real", figure: "around-a-result-real.svg" },
  ...{ label: "SmolLM2-135M, two families, two checkpoints", vocabulary: 49152 },
  ...{ checkpoints: ["sft", "arpo"], equal: [0.9, 1.1], several: ["trails"] },
  measured: {
    ...{ K: 8, group: 8, sure: 0.99, seed: 61, responseLength: 768, callLimit: 4 },
  },
  decisions: { prompts: 30, seed: 63 },
  cells: ["sft", "arpo"].flatMap((checkpoint) =>
    ["stories", "trails"].map((family) => named({ family, checkpoint, planned: 60 })),
  ),
};
