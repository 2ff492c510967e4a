import type { Check } from "../check.js";
import { firstProgram, runProgram } from "./run-program.js";

const area = "tensors";

/** What one core of this machine multiplies, in operations per second, by a quick trial. */
export async function measureSpeed(): Promise<number> {
  const { ready, tf } = await import("../../tensor/index.js");
  await ready();
  const size = 512;
  const a = tf.randomUniform([size, size]) as ReturnType<typeof tf.tensor2d>;
  let best = Infinity;
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    const product = tf.matMul(a, a);
    await product.data();
    product.dispose();
    best = Math.min(best, performance.now() - began);
  }
  a.dispose();
  return (2 * size ** 3) / (best / 1000);
}

async function chosen(): Promise<Check[]> {
  try {
    const { compiledEngine, ready } = await import("../../tensor/index.js");
    const name = await ready();
    const asked = process.env["ARPO_LAB_BACKEND"];
    const why = asked ? `ARPO_LAB_BACKEND asks for it` : `the best that works here`;
    const engine = compiledEngine();
    const how = engine ? ` (${engine.isa}, ${engine.call.threads!()} threads)` : "";
    const speed = await measureSpeed();
    const found = `backend ${name}${how}: ${why}; ${(speed / 1e9).toFixed(0)} GFLOP/s in a trial`;
    if (name === "cpu") {
      const fix = "unset ARPO_LAB_BACKEND; the compiled engines are some hundred times faster";
      return [{ id: "backend", area, status: "slow", found, fix }];
    }
    if (name === "wasm") {
      const fix = "with a C++ compiler `node scripts/build-native.mjs` builds the faster addon";
      return [{ id: "backend", area, status: "slow", found, fix }];
    }
    return [{ id: "backend", area, status: "ok", found }];
  } catch (error) {
    const found = (error as Error).message;
    return [{ id: "backend", area, status: "error", found, fix: "unset ARPO_LAB_BACKEND" }];
  }
}

async function addon(): Promise<Check[]> {
  const { loadNativeEngine, nativeEngineExists } =
    await import("../../tensor/engine/native-engine.js");
  const compiler = await firstProgram([process.env["CXX"], "g++", "clang++", "c++"], ["--version"]);
  const cpp: Check = compiler
    ? { id: "compiler", area, status: "ok", found: `compiler: ${compiler.says}` }
    : {
        id: "compiler",
        area,
        status: nativeEngineExists() ? "ok" : "note",
        found: "no C++ compiler (g++, clang++, c++)",
        ...(nativeEngineExists() ? {} : { fix: "install g++ to build the addon" }),
      };
  if (!nativeEngineExists()) {
    const fix =
      "run `node scripts/build-native.mjs` in the package's folder; wasm serves meanwhile";
    return [{ id: "addon", area, status: "slow", found: "native: not built", fix }, cpp];
  }
  try {
    return [
      { id: "addon", area, status: "ok", found: `native: loads (${loadNativeEngine().isa})` },
      cpp,
    ];
  } catch (error) {
    const found = `native: built, but does not load: ${(error as Error).message}`;
    const fix = "build it again on this machine: `node scripts/build-native.mjs`";
    return [{ id: "addon", area, status: "slow", found, fix }, cpp];
  }
}

async function gpu(): Promise<Check> {
  const query = ["--query-gpu=name,memory.total", "--format=csv,noheader"];
  const cards = await runProgram("nvidia-smi", query);
  const { gpuIsPlausible, webgpuAnswers } = await import("../../tensor/optional/webgpu.js");
  const { tensorflowIsInstalled } = await import("../../tensor/optional/tensorflow.js");
  const plausible = gpuIsPlausible();
  if (cards === undefined && !plausible) {
    return {
      id: "gpu",
      area,
      status: "note",
      found: "no GPU was found; models run on the processor",
    };
  }
  const answers = plausible && (await webgpuAnswers().catch(() => false));
  const ways = [
    ...(answers ? ["webgpu answers"] : []),
    ...(tensorflowIsInstalled() ? ["tensorflow is installed"] : []),
  ];
  const name = cards?.split("\n").join("; ") ?? "a GPU";
  if (ways.length > 0)
    return { id: "gpu", area, status: "ok", found: `${name}: ${ways.join(", ")}` };
  return {
    id: "gpu",
    area,
    status: "slow",
    found: `${name}, which nothing here can use`,
    fix: "npm install webgpu @tensorflow/tfjs-backend-webgpu, or @tensorflow/tfjs-node-gpu with CUDA",
  };
}

/** Which backend computes and why, what else there is, and how fast it is. */
export async function tensorChecks(): Promise<Check[]> {
  const first = await chosen();
  // Where the choice itself is wrong, nothing of the room can be loaded.
  if (first.some(({ status }) => status === "error")) return first;
  return [...first, ...(await addon()), await gpu()];
}
