import type { Check } from "../check.js";
import { firstProgram, runProgram } from "./run-program.js";

const area = "tensors";

const compileIt =
  "`node scripts/build-native.mjs` in a clone, with a C++ compiler, builds the faster addon; a package brings it for Linux, macOS and Windows";

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
    const how = engine ? ` (${engine.isa}, ${engine.call.threads()} threads)` : "";
    const speed = await measureSpeed();
    const found = `backend ${name}${how}: ${why}; ${(speed / 1e9).toFixed(0)} GFLOP/s in a trial`;
    if (name === "cpu") {
      const fix = "unset ARPO_LAB_BACKEND; the compiled engines are some hundred times faster";
      return [{ id: "backend", area, status: "slow", found, fix }];
    }
    if (name === "wasm") {
      return [{ id: "backend", area, status: "slow", found, fix: compileIt }];
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
        ...(nativeEngineExists() ? {} : { fix: compileIt }),
      };
  if (!nativeEngineExists()) {
    const found = "native: no addon for this machine; wasm serves";
    return [{ id: "addon", area, status: "slow", found, fix: compileIt }, cpp];
  }
  try {
    return [
      { id: "addon", area, status: "ok", found: `native: loads (${loadNativeEngine().isa})` },
      cpp,
    ];
  } catch (error) {
    const found = `native: there, but does not load: ${(error as Error).message}`;
    return [{ id: "addon", area, status: "slow", found, fix: compileIt }, cpp];
  }
}

/** What a GPU would give, as far as it is known: nobody has measured one yet. */
const pays =
  "it may pay for training models of some 100 million weights and more: try a step of each. Answers are decoded on the processor either way, and the tiny model is faster there";

async function gpu(): Promise<Check> {
  const query = ["--query-gpu=name,memory.total", "--format=csv,noheader"];
  const cards = await runProgram("nvidia-smi", query);
  const { gpuIsPlausible, webgpuAnswers, webgpuIsInstalled } =
    await import("../../tensor/optional/webgpu.js");
  const { tensorflowIsInstalled } = await import("../../tensor/optional/tensorflow.js");
  if (cards === undefined && !gpuIsPlausible()) {
    return {
      id: "gpu",
      area,
      status: "note",
      found: "no GPU was found; models run on the processor",
    };
  }
  const name = cards?.split("\n").join("; ") ?? "a GPU";
  const ways = [
    ...((await webgpuAnswers()) ? ["webgpu"] : []),
    ...(tensorflowIsInstalled() ? ["tensorflow"] : []),
  ];
  const asked = process.env["ARPO_LAB_BACKEND"];
  if (asked !== undefined && ways.includes(asked)) {
    return { id: "gpu", area, status: "ok", found: `${name}: ${asked} uses it` };
  }
  if (ways.length > 0) {
    return {
      id: "gpu",
      area,
      status: "note",
      found: `${name}: not used unless ARPO_LAB_BACKEND is ${ways.join(" or ")}`,
      fix: `${ways.map((way) => `ARPO_LAB_BACKEND=${way}`).join(" or ")}; ${pays}`,
    };
  }
  return {
    id: "gpu",
    area,
    status: "note",
    found: webgpuIsInstalled()
      ? `${name}, which webgpu finds no way to`
      : `${name}: not used, as neither webgpu nor TensorFlow is installed`,
    fix: `\`npm install webgpu\` (130 MB; or @tensorflow/tfjs-node-gpu, for CUDA 11) and ARPO_LAB_BACKEND=webgpu; ${pays}`,
  };
}

/** Which backend computes and why, what else there is, and how fast it is. */
export async function tensorChecks(): Promise<Check[]> {
  return [...(await chosen()), ...(await addon()), await gpu()];
}
