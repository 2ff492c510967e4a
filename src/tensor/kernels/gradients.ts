import { inMatmulPrecision, type MatmulPrecision } from "../matmul-precision.js";
import { tf } from "../tfjs.js";

type Tensor = tf.Tensor;
type Named = Record<string, Tensor>;

function run(kernel: string, inputs: Named, attributes: Record<string, unknown> = {}): Tensor[] {
  const result = tf.engine().runKernel(kernel, inputs as never, attributes as never);
  return (Array.isArray(result) ? result : [result]) as Tensor[];
}

/** tfjs asks for each input's gradient by name; the fused kernels make them together. */
function named(names: string[], gradients: Tensor[]): Record<string, () => Tensor> {
  return Object.fromEntries(names.map((name, i) => [name, () => gradients[i]!]));
}

/** Pairs the saved tensors with the names they were saved under. */
function unpack(names: readonly string[], saved: Tensor[]): Named {
  return Object.fromEntries(names.map((name, i) => [name, saved[i]!]));
}

function register(
  kernelName: string,
  inputs: string[],
  outputs: (string | null)[],
  gradient: (
    dys: Tensor[],
    saved: Named,
    attributes: Record<string, unknown>,
  ) => Record<string, () => Tensor>,
): void {
  const kept = [...inputs, ...outputs.filter((o) => o !== null)];
  tf.registerGradient({
    kernelName,
    inputsToSave: inputs,
    outputsToSave: outputs.map((o) => o !== null),
    gradFunc: (dy, saved, attributes) => {
      const asked = attributes as Record<string, unknown> & { precision: MatmulPrecision };
      return inMatmulPrecision(asked.precision, () =>
        gradient(Array.isArray(dy) ? dy : [dy], unpack(kept, saved), asked),
      );
    },
  });
}

/** Of x and of each pair of adapters; what they are added to is not trained. */
function registerAdapted(parts: 1 | 2 | 3): void {
  const each = (letter: string) => Array.from({ length: parts }, (_, i) => `${letter}${i}`);
  register(
    `ArpoAdapted${parts}`,
    ["x", ...each("w"), ...each("a"), ...each("b")],
    [...each("y").map(() => null), ...each("t")],
    (dys, saved, attributes) => {
      const slopes = Object.fromEntries(each("dy").map((name, i) => [name, dys[i]!]));
      const found = run("ArpoAdaptedGrad", { ...slopes, ...saved }, attributes);
      return named(["x", ...each("a"), ...each("b")], found);
    },
  );
}

/** Gradients of the fused kernels; the plain versions have tfjs's own. */
export function registerFusedGradients(): void {
  register("ArpoRmsNorm", ["x", "weight"], [null, "inverse"], ([dy], saved) =>
    named(["x", "weight"], run("ArpoRmsNormGrad", { dy: dy!, ...saved })),
  );
  register("ArpoLinear", ["x", "weight"], [null], ([dy], saved, { biased }) =>
    named(["x", "weight", "bias"], run("ArpoLinearGrad", { dy: dy!, ...saved }, { biased })),
  );
  for (const parts of [1, 2, 3] as const) registerAdapted(parts);
  for (const kernel of ["ArpoSwiglu", "ArpoGeglu"]) {
    register(kernel, ["gate", "up"], [null], ([dy], saved) =>
      named(["gate", "up"], run(`${kernel}Grad`, { dy: dy!, ...saved })),
    );
  }
  register("ArpoRope", ["cos", "sin"], [null], ([dy], saved) => ({
    x: () => run("ArpoRope", { x: dy!, ...saved }, { back: true })[0]!,
    cos: () => tf.zerosLike(saved.cos!),
    sin: () => tf.zerosLike(saved.sin!),
  }));
  register("ArpoEmbed", ["ids"], [null], ([dy], saved, attributes) => ({
    table: () => run("ArpoEmbedGrad", { dy: dy!, ...saved }, attributes)[0]!,
    ids: () => tf.zerosLike(saved.ids!),
  }));
  for (const [kernel, lengths] of [
    ["ArpoCausalAttention", []],
    ["ArpoCausalAttentionPadded", ["lengths"]],
    ["ArpoWindowAttention", []],
    ["ArpoWindowAttentionPadded", ["lengths"]],
    ["ArpoSharedAttention", ["lengths", "unfold"]],
  ] as const) {
    const back = `${kernel.replace("Padded", "")}Grad`;
    const inputs = ["q", "k", "v", ...lengths];
    register(kernel, inputs, ["out", "normaliser"], ([dy], saved, { window }) => ({
      ...named(["q", "k", "v"], run(back, { dy: dy!, ...saved }, { window })),
      lengths: () => tf.zerosLike(saved.lengths!),
      unfold: () => tf.zerosLike(saved.unfold!),
    }));
  }
  const projections = ["x", "cos", "sin", "wq", "wk", "wv"];
  const qkvGradient = (
    [dq, dk, dv]: Tensor[],
    saved: Named,
    { biased, headDim, normed }: Record<string, unknown>,
  ) => {
    const names = ["x"];
    for (const letter of ["q", "k", "v"]) {
      names.push(`w${letter}`);
      if (biased) names.push(`b${letter}`);
      if (normed && letter !== "v") names.push(`${letter}Norm`);
    }
    const inputs = { dq: dq!, dk: dk!, dv: dv!, ...saved };
    return {
      ...named(names, run("ArpoQkvGrad", inputs, { biased, headDim })),
      cos: () => tf.zerosLike(saved.cos!),
      sin: () => tf.zerosLike(saved.sin!),
    };
  };
  register("ArpoQkv", projections, [null, null, null], qkvGradient);
  register(
    "ArpoQkvNormed",
    [...projections, "qNorm", "kNorm"],
    [null, null, null, "qBefore", "qInverse", "kBefore", "kInverse"],
    qkvGradient,
  );
  register(
    "ArpoLogProbEntropy",
    ["hidden", "head", "labels"],
    [null, "entropies", "normaliser"],
    ([dlogprobs, dentropies], saved, { temperature, frozen }) => ({
      ...named(
        frozen ? ["hidden"] : ["hidden", "head"],
        run(
          "ArpoLogProbEntropyGrad",
          { dlogprobs: dlogprobs!, dentropies: dentropies!, ...saved },
          { temperature, frozen },
        ),
      ),
      ...(frozen ? { head: () => tf.zerosLike(saved.head!) } : {}),
      labels: () => tf.zerosLike(saved.labels!),
    }),
  );
}
