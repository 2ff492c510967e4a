// What docs/evidence/preregistration.md fixes.
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

/** Every cell, in the order of the tables; the controls come last. */
export const cells = [
  ...checkpoints.flatMap((checkpoint) => families.map((family) => ({ family, checkpoint }))),
  ...controls.map((checkpoint) => ({ family: "multihop", checkpoint, control: true })),
].map((cell) => ({ ...cell, name: `${cell.family}-${cell.checkpoint}` }));
