import { existsSync } from "#platform/files";
import { addonInterface, requirePackage, resolvePackage } from "#platform/modules";
import { dirname, join } from "#platform/path";

const packages = ["@tensorflow/tfjs-node-gpu", "@tensorflow/tfjs-node"];

/** The packages that are there together with their compiled binding. */
function installed(): string[] {
  return packages.filter((name) => {
    const found = resolvePackage(`${name}/package.json`);
    if (found === undefined) return false; // the usual case of an optional dependency
    const home = dirname(found);
    return Array.from({ length: addonInterface }, (_, i) => `napi-v${i + 1}`).some((folder) =>
      existsSync(join(home, "lib", folder, "tfjs_binding.node")),
    );
  });
}

/** Whether TensorFlow's own binding for Node was installed, binary included. */
export function tensorflowIsInstalled(): boolean {
  return installed().length > 0;
}

/** Loads the GPU binding or else the CPU one; it registers itself with tfjs. Gives its name. */
export function loadTensorflow(): string {
  // The binding calls a function that Node 23 removed.
  const util = requirePackage("node:util") as { isNullOrUndefined?: (x: unknown) => boolean };
  util.isNullOrUndefined ??= (x) => x == null;
  const failures: string[] = [];
  for (const name of installed()) {
    try {
      requirePackage(name);
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
