// For what sets a loss and computes none.
export { lossPresets, type PublishedUpdate } from "./registry.js";
