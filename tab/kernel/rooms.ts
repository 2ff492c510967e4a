// What cells of a tab can import of the package; a test holds it against package.json.
type Namespace = Record<string, unknown>;

export const rooms: Record<string, () => Promise<Namespace>> = {
  "arpo-lab": () => import("../../src/index.js"),
  "arpo-lab/tensor": () => import("../../src/tensor/index.js"),
  "arpo-lab/model": () => import("../../src/model/index.js"),
  "arpo-lab/policy": () => import("../../src/policy/index.js"),
  "arpo-lab/tools": () => import("../../src/tools/index.js"),
  "arpo-lab/environment": () => import("../../src/environment/index.js"),
  "arpo-lab/rollout": () => import("../../src/rollout/index.js"),
  "arpo-lab/rollout/testing": () => import("../../src/rollout/testing/index.js"),
  "arpo-lab/reward": () => import("../../src/reward/index.js"),
  "arpo-lab/import": () => import("../../src/import/index.js"),
  "arpo-lab/learn": () => import("../../src/learn/index.js"),
  "arpo-lab/run": () => import("../../src/run/index.js"),
  "arpo-lab/eval": () => import("../../src/eval/index.js"),
  "arpo-lab/view": () => import("../../src/view/index.js"),
  "arpo-lab/frame": () => import("../../src/frame/index.js"),
  "arpo-lab/show": () => import("../../src/show/index.js"),
  "arpo-lab/data": () => import("../../src/data/index.js"),
  "arpo-lab/convert": () => import("../../src/convert/index.js"),
  "arpo-lab/lessons": () => import("../../src/lessons/index.js"),
  "arpo-lab/defaults": () => import("../../src/defaults/index.js"),
  "arpo-lab/random": () => import("../../src/random/index.js"),
  "arpo-lab/http": () => import("../../src/http/index.js"),
  "arpo-lab/files": () => import("../../src/files/index.js"),
};
