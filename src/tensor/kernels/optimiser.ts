import type { TensorInfo } from "#tfjs";
import type { EngineBackend } from "../engine/engine-backend.js";
import { tf } from "../tfjs.js";
import type { EngineKernel } from "./kernel.js";

/** Inputs named `gradient0`, `gradient1`, ...: where each is, for one call over all of them. */
function places(
  backend: EngineBackend,
  inputs: Record<string, TensorInfo>,
  name: string,
): Float64Array {
  const found: number[] = [];
  for (let i = 0; `${name}${i}` in inputs; i++) {
    found.push(backend.engine.address(backend.floats(inputs[`${name}${i}`]!)));
  }
  return Float64Array.from(found);
}

function sizes(inputs: Record<string, TensorInfo>): Int32Array {
  const found: number[] = [];
  for (let i = 0; `gradient${i}` in inputs; i++) {
    found.push(tf.util.sizeFromShape(inputs[`gradient${i}`]!.shape));
  }
  return Int32Array.from(found);
}

/** Parameters, m and v change in place; there is no result. */
const adamw: EngineKernel = (backend, inputs, s) => {
  const counts = sizes(inputs);
  const at = (name: string) => places(backend, inputs, name);
  // prettier-ignore
  backend.engine.call.adamw(
    at("parameter"), at("gradient"), at("m"), at("v"), counts, counts.length, s.learningRate!, s.beta1!, s.beta2!,
    s.epsilon!, s.weightDecay!, s.scale!, s.correction1!, s.correction2!,
  );
  return [];
};

/** The sum of squares as a float64 pair would lose nothing; one float32 keeps what clipping needs. */
const squareSum: EngineKernel = (backend, inputs) => {
  const counts = sizes(inputs);
  const gradients = places(backend, inputs, "gradient");
  const sum = backend.engine.call.square_sum(gradients, counts, counts.length);
  return backend.makeTensorInfo([], "float32", Float32Array.of(sum));
};

/** What the optimiser does to all parameters at once. */
export const optimiserKernels: Readonly<Record<string, EngineKernel>> = {
  ArpoAdamW: adamw,
  ArpoSquareSum: squareSum,
};
