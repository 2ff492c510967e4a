// What may be in the package, and what must be: rules for the list that `npm pack --json` gives.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { packedPicture } from "./readme-pictures.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What has been in it by accident, or could be. */
const never = [
  [/\.test\.|\.slow\./, "a test"],
  [/(^|\/)testing\//, "a helper of tests"],
  [/^dist\/(tools|tests|examples)\//, "built for tests"],
  [/^(tests|tools|node_modules|\.ci|\.git)\//, "of the repository alone"],
  [
    /\.v8$|\.tsbuildinfo$|\.inputs\.json$|\.log$|\.DS_Store|\.ipynb_checkpoints|__pycache__/,
    "left by a tool",
  ],
  [/^native\/(build|src|addon|wasm)\//, "of the native engine's build"],
  [/^kernel\/server\/page\//, "the source of the page, which is built"],
  [/tfjs-float64/, "of the check of golden cases"],
];
/** For tools and policies without a model: public. */
const isPublicHelper = (path) =>
  /^(dist\/)?src\/rollout\/testing\//.test(path) && !/\.test\./.test(path);

/** The platforms that a release has addons for. */
export const addons = ["linux-x64", "linux-x64-musl", "linux-arm64", "linux-arm64-musl"].concat([
  "darwin-x64",
  "darwin-arm64",
  "win32-x64",
]);
/** What is made only when a package is. */
const made = [
  "dist/commit.json",
  "dist/lab-page/BUILD/first.json",
  "dist/lab-page/BUILD/static/main.js",
  "THIRD_PARTY_NOTICES.md",
];
const always = [
  "docs/CHANGELOG.md",
  "LICENSE",
  "README.md",
  "native/arpo.wasm",
  "native/arpo-relaxed.wasm",
  "apps/cli/bin/arpo-lab.mjs",
  "data/papermill/arpo_lab_papermill.py",
];

/** Every file that a value of package.json's `exports` or `imports` names. */
const targets = (value) =>
  typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(targets);

/** Where the links and pictures of a Markdown file point to, inside the package. */
function links(path) {
  const text = readFileSync(join(root, path), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(([, to]) => (path === "README.md" ? packedPicture(to) : to))
    .filter((to) => !/^[a-z]+:/.test(to))
    .map((to) => posix.normalize(posix.join(posix.dirname(path), to)).replace(/\/$/, ""));
}

/**
 * What is wrong with the package's files, one sentence each: nothing, where all is well. `complete`: also what
 * is made only for a package must be there, and these platforms' addons.
 */
export function faultsOf(paths, { complete = true, addons: platforms = addons } = {}) {
  const there = new Set(paths);
  const folders = new Set(
    paths.flatMap((p) => p.split("/").map((_, i, all) => all.slice(0, i).join("/"))),
  );
  const faults = [];
  for (const path of paths) {
    if (isPublicHelper(path)) continue;
    const rule = never.find(([pattern]) => pattern.test(path));
    if (rule) faults.push(`${path} is in the package: ${rule[1]}`);
  }
  const named = new Set(paths.map((p) => p.replace(/^(dist\/lab-page)\/[^/]+/, "$1/BUILD")));
  const prebuilt = platforms.map((name) => `native/prebuilt/${name}.node`);
  for (const path of complete ? [...always, ...made, ...prebuilt] : always)
    if (!named.has(path)) faults.push(`${path} is not in the package`);
  const { exports, imports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const target of targets({ exports, imports, bin })) {
    const path = posix.normalize(target);
    if (target.startsWith(".") && !target.includes("*") && !there.has(path))
      faults.push(`${path} is named by package.json and not in the package`);
  }
  for (const path of paths.filter((p) => p.endsWith(".map") && !p.includes("vendor"))) {
    const { sources } = JSON.parse(readFileSync(join(root, path), "utf8"));
    for (const source of sources) {
      if (!there.has(posix.normalize(posix.join(posix.dirname(path), source))))
        faults.push(`${path} is a map without its source`);
    }
  }
  for (const path of paths.filter((p) => /^(README|docs\/[^/]*|notebooks\/[^/]*)\.md$/.test(p))) {
    for (const link of links(path)) {
      const missing = !there.has(link) && !folders.has(link);
      if (missing && existsSync(join(root, dirname(path))))
        faults.push(`${path} points to ${link}, which is not in the package`);
    }
  }
  return faults;
}
