// Runs tfjs-core's own tests, which its package carries, on one of our backends (ARPO_LAB_BACKEND). The only
// argument is a folder with jasmine-core 3. The last line is JSON: how many passed, and what failed.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const require = createRequire(import.meta.url);
const jasmineFolder = join(process.argv[2], "node_modules");
const jasmineRequire = createRequire(join(jasmineFolder, "x.js"))("jasmine-core");
const jasmine = jasmineRequire.core(jasmineRequire);
const env = jasmine.getEnv({ suppressLoadErrors: true });
Object.assign(globalThis, jasmineRequire.interface(jasmine, env), { jasmine });
env.configure({ random: false });

// The backends register themselves with tfjs's one engine, which copies of tfjs-core share.
const { tf } = await import("../../../dist/src/api/model.js");
await tf.ready();
const backendName = tf.getBackend();
// ARPO_LAB_BACKEND insists on its backend. Seven tests choose by priority, as tfjs does where nobody insists.
delete tf.engine().getSortedBackends;

const core = dirname(require.resolve("@tensorflow/tfjs-core/package.json"));
const folder = mkdtempSync(join(tmpdir(), "arpo-lab-tfjs-"));
const outfile = join(folder, "tests.mjs");
await build({
  stdin: {
    contents: `import { setTestEnvs } from "./jasmine_util";
      import "./index"; import "./register_all_gradients"; import "./public/chained_ops/register_all_chained_ops";
      setTestEnvs([{ name: ${JSON.stringify(backendName)}, backendName: ${JSON.stringify(backendName)}, isDataSync: true }]);
      globalThis.loadTests = () => require("./tests");`,
    resolveDir: join(core, "dist"),
  },
  ...{ bundle: true, format: "esm", platform: "node", outfile, logLevel: "error" },
  // Tests are imported for what they do, which the package does not announce.
  ignoreAnnotations: true,
  // As a browser would: tfjs-core's Node entries repeat the library.
  ...{
    mainFields: ["module", "main"],
    nodePaths: [jasmineFolder],
    external: ["node-fetch", "util"],
  },
  banner: {
    js: `import { createRequire } from "node:module"; const require = createRequire(${JSON.stringify(import.meta.url)});`,
  },
});
await import(pathToFileURL(outfile).href);
globalThis.loadTests();
rmSync(folder, { recursive: true });

const failed = [];
let passed = 0;
let left = 0;
env.addReporter({
  specDone({ status, fullName, failedExpectations }) {
    if (status === "passed") passed++;
    else if (status === "failed") {
      failed.push({ name: fullName, why: failedExpectations.map(({ message }) => message) });
    } else left++;
  },
  jasmineDone() {
    console.log(JSON.stringify({ backend: backendName, passed, left, failed }));
    process.exit(0);
  },
});
env.execute();
