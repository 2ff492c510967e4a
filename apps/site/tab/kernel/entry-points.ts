// What cells of a tab can import of the package; a test holds it against package.json.
export const entryPoints: Record<string, () => Promise<Record<string, unknown>>> = {
  "arpo-lab": () => import("../../../../src/api/index.js"),
  "arpo-lab/model": () => import("../../../../src/api/model.js"),
  "arpo-lab/policy": () => import("../../../../src/api/policy.js"),
  "arpo-lab/tools": () => import("../../../../src/api/tools.js"),
  "arpo-lab/rollout": () => import("../../../../src/api/rollout.js"),
  "arpo-lab/learn": () => import("../../../../src/api/learn.js"),
  "arpo-lab/run": () => import("../../../../src/api/run.js"),
  "arpo-lab/view": () => import("../../../../src/api/view.js"),
  "arpo-lab/experimental/convert": () => import("../../../../src/api/experimental/convert.js"),
  "arpo-lab/experimental/entropy": () => import("../../../../src/api/experimental/entropy.js"),
  "arpo-lab/experimental/evaluation": () =>
    import("../../../../src/api/experimental/evaluation.js"),
  "arpo-lab/experimental/family": () => import("../../../../src/api/experimental/family.js"),
  "arpo-lab/experimental/formats": () => import("../../../../src/api/experimental/formats.js"),
  "arpo-lab/experimental/frame": () => import("../../../../src/api/experimental/frame.js"),
  "arpo-lab/experimental/import": () => import("../../../../src/api/experimental/import.js"),
  "arpo-lab/experimental/learn": () => import("../../../../src/api/experimental/learn.js"),
  "arpo-lab/experimental/testing": () => import("../../../../src/api/experimental/testing.js"),
  "arpo-lab/experimental/tools": () => import("../../../../src/api/experimental/tools.js"),
  "arpo-lab/internal/lessons": () => import("../../../../notebooks/exercises/index.js"),
  "arpo-lab/internal/stages": () => import("../../../../src/api/internal/stages.js"),
};
