import { type Check, findings } from "../check.js";
import { firstProgram, runProgram } from "./run-program.js";

const { ok, note, slow, error: wrong } = findings("tensors");

const compileIt =
  "`node tools/native/build-native.mjs` in a clone, with a C++ compiler, builds the faster addon; a package brings it for Linux, macOS and Windows";

/** What one core of this machine multiplies, in operations per second, by a quick trial. */
export async function measureSpeed(): Promise<number> {
  const { ready } = await import("../../tensor/backends.js");
  const { tf } = await import("../../tensor/tf.js");
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

async function chosen(): Promise<Check> {
  try {
    const { compiledEngine } = await import("../../tensor/engine/compiled-engine.js");
    await import("../../tensor/tf.js"); // registers the backends that ready() chooses from
    const { ready } = await import("../../tensor/backends.js");
    const name = await ready();
    const asked = process.env["ARPO_LAB_BACKEND"];
    const why = asked ? `ARPO_LAB_BACKEND asks for it` : `the best that works here`;
    const engine = compiledEngine();
    const how = engine ? ` (${engine.isa}, ${engine.call.threads()} threads)` : "";
    const speed = await measureSpeed();
    const found = `backend ${name}${how}: ${why}; ${(speed / 1e9).toFixed(0)} GFLOP/s in a trial`;
    if (name === "cpu") {
      const fix = "unset ARPO_LAB_BACKEND; the compiled engines are some hundred times faster";
      return slow("backend", found, fix);
    }
    return name.startsWith("wasm") ? slow("backend", found, compileIt) : ok("backend", found);
  } catch (error) {
    return wrong("backend", (error as Error).message, "unset ARPO_LAB_BACKEND");
  }
}

async function addon(): Promise<Check[]> {
  const { loadNativeEngine, nativeEngineExists } =
    await import("../../tensor/engine/native-engine.js");
  const compiler = await firstProgram([process.env["CXX"], "g++", "clang++", "c++"], ["--version"]);
  const none = "no C++ compiler (g++, clang++, c++)";
  if (!nativeEngineExists()) {
    return [
      slow("addon", "native: no addon for this machine; wasm serves", compileIt),
      compiler ? ok("compiler", `compiler: ${compiler.says}`) : note("compiler", none, compileIt),
    ];
  }
  const cpp = ok("compiler", compiler ? `compiler: ${compiler.says}` : none);
  try {
    return [ok("addon", `native: loads (${loadNativeEngine().isa})`), cpp];
  } catch (error) {
    const found = `native: there, but does not load: ${(error as Error).message}`;
    return [slow("addon", found, compileIt), cpp];
  }
}

/** What was timed when models were loaded here: a line for each shape, backends side by side. */
async function measured(): Promise<Check[]> {
  const { allRemembered, machineKey } = await import("../../model/choose/remembered.js");
  const { verdict } = await import("../../model/choose/fastest.js");
  const machine = machineKey();
  const entries = (await allRemembered()).filter((entry) => entry.machine === machine);
  return entries.map(({ shape, timings }) =>
    ok("backend-measured", `${shape}: ${verdict(timings, "train")}; ${verdict(timings, "decode")}`),
  );
}

async function gpu(): Promise<Check> {
  const query = ["--query-gpu=name,memory.total", "--format=csv,noheader"];
  const cards = await runProgram("nvidia-smi", query);
  const { findGpu, gpuIsPlausible, webgpuIsInstalled } =
    await import("../../tensor/optional/webgpu.js");
  const { tensorflowIsInstalled } = await import("../../tensor/optional/tensorflow.js");
  if (cards === undefined && !gpuIsPlausible()) {
    return note("gpu", "no GPU was found; models run on the processor");
  }
  const name = cards?.split("\n").join("; ") ?? "a GPU";
  const answer = await findGpu();
  const asked = process.env["ARPO_LAB_BACKEND"];
  if (asked === "webgpu" && answer) {
    return ok("gpu", `${answer.name}: webgpu uses it`);
  }
  const tensorflow = tensorflowIsInstalled()
    ? "; TensorFlow is used where ARPO_LAB_BACKEND=tensorflow asks for it"
    : "";
  if (answer?.software === false) {
    const when = asked
      ? `not used, as ARPO_LAB_BACKEND is ${asked}`
      : "a model that is loaded is timed on it and on the processor, and runs where it is faster";
    return note("gpu", `${answer.name}: ${when}${tensorflow}`);
  }
  return note(
    "gpu",
    answer
      ? `${answer.name} is a software GPU adapter: never chosen${tensorflow}`
      : webgpuIsInstalled()
        ? `${name}, which webgpu cannot use${tensorflow}`
        : `${name}: not used, as webgpu is not installed${tensorflow}`,
    webgpuIsInstalled()
      ? undefined
      : "`npm install webgpu` (130 MB); loading a model then times both and takes the faster",
  );
}

/** Which backend computes and why, what else there is, and how fast it is. */
export async function tensorChecks(): Promise<Check[]> {
  return [await chosen(), ...(await addon()), await gpu(), ...(await measured())];
}
