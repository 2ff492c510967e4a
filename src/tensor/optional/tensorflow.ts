import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "#platform/path";
import util from "node:util";

const require = createRequire(import.meta.url);
const packages = ["@tensorflow/tfjs-node-gpu", "@tensorflow/tfjs-node"];

/** The packages that are there together with their compiled binding. */
function installed(): string[] {
  return packages.filter((name) => {
    try {
      const home = dirname(require.resolve(`${name}/package.json`));
      const abi = Number(process.versions.napi);
      return Array.from({ length: abi }, (_, i) => `napi-v${i + 1}`).some((folder) =>
        existsSync(join(home, "lib", folder, "tfjs_binding.node")),
      );
    } catch {
      return false; // not installed, the usual case of an optional dependency
    }
  });
}

/** Whether TensorFlow's own binding for Node was installed, binary included. */
export function tensorflowIsInstalled(): boolean {
  return installed().length > 0;
}

/** Loads the GPU binding or else the CPU one; it registers itself with tfjs. Gives its name. */
export function loadTensorflow(): string {
  // The binding calls a function that Node 23 removed.
  (util as { isNullOrUndefined?: (x: unknown) => boolean }).isNullOrUndefined ??= (x) => x == null;
  const failures: string[] = [];
  for (const name of installed()) {
    try {
      require(name);
      return name;
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  throw new Error(
    "Cannot use the tensorflow backend: @tensorflow/tfjs-node-gpu or @tensorflow/tfjs-node must be " +
      `installed with its binary, got ${failures.join("; ") || "neither"}`,
  );
}
