// `npm run golden -- DIR`: checks every file of golden cases in DIR against the shipped code.
//
// The cases were computed in double precision; tfjs stores float32. So this runs the compiled code
// with one thing exchanged: tfjs itself, rebuilt with Float64Array for Float32Array. The mathematics
// that ships is then what is compared at 1e-9, not a second copy of it.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
if (!process.argv.includes("--no-build")) {
  const built = spawnSync(process.execPath, [join(root, "tools/build.mjs")], {
    stdio: "inherit",
  });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

await import("./vendor/float64.mjs");
const { checkGoldenCases } = await import(
  pathToFileURL(join(root, "dist/tests/golden/main.js")).href
);
const dir = process.argv.slice(2).find((word) => !word.startsWith("--"));
process.exit(await checkGoldenCases(dir && resolve(process.env.INIT_CWD ?? ".", dir)));
