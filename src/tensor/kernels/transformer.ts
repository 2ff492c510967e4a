import type { TensorInfo } from "#tfjs";
import type { Floats } from "../engine/engine-functions.js";
import type { EngineBackend } from "../engine/engine-backend.js";
import { type EngineKernel, rowsOf } from "./kernel.js";

type Infos = Record<string, TensorInfo>;

/** out (rows x outputs) = x W^T, W being [outputs, inputs]. */
function project(
  backend: EngineBackend,
  x: Floats,
  weight: TensorInfo,
  out: Floats,
  rows: number,
): void {
  const [outputs, inputs] = weight.shape as [number, number];
  // prettier-ignore
  backend.engine.call.matmul(
    x, inputs, false, 0, backend.floats(weight), inputs, true, 0, out, outputs, 0,
    1, rows, outputs, inputs, 1, false,
  );
}

/** dx (+)= dy W */
function projectBack(
  backend: EngineBackend,
  dy: Floats,
  weight: TensorInfo,
  dx: Floats,
  rows: number,
  accumulate: boolean,
): void {
  const [outputs, inputs] = weight.shape as [number, number];
  // prettier-ignore
  backend.engine.call.matmul(
    dy, outputs, false, 0, backend.floats(weight), inputs, false, 0, dx, inputs, 0,
    1, rows, inputs, outputs, 1, accumulate,
  );
}

/** The gradient of W: dy^T x. */
function weightGradient(
  backend: EngineBackend,
  dy: Floats,
  x: Floats,
  shape: number[],
  rows: number,
): TensorInfo {
  const [outputs, inputs] = shape as [number, number];
  const dw = backend.output(shape);
  // prettier-ignore
  backend.engine.call.matmul(
    dy, outputs, true, 0, x, inputs, false, 0, dw.floats, inputs, 0,
    1, outputs, inputs, rows, 1, false,
  );
  return dw.info;
}

function columnSum(backend: EngineBackend, dy: Floats, rows: number, width: number): TensorInfo {
  const sums = backend.output([width]);
  backend.engine.call.column_sum(dy, sums.floats, rows, width);
  return sums.info;
}

const rmsNorm: EngineKernel = (backend, inputs, { epsilon }) => {
  const { x, weight } = inputs as Infos & { x: TensorInfo; weight: TensorInfo };
  const { rows, width } = rowsOf(x);
  const y = backend.output(x.shape);
  const inverse = backend.output([rows]);
  const call = backend.engine.call.rms_norm;
  // prettier-ignore
  call(
    backend.floats(x), backend.floats(weight), y.floats, inverse.floats, rows, width, epsilon!,
  );
  return [y.info, inverse.info];
};

const rmsNormGrad: EngineKernel = (backend, inputs) => {
  const { dy, x, weight, inverse } = inputs as Infos & Record<"dy" | "x", TensorInfo>;
  const { rows, width } = rowsOf(x);
  const dx = backend.output(x.shape);
  const dw = backend.output([width]);
  // prettier-ignore
  backend.engine.call.rms_norm_grad(
    backend.floats(dy), backend.floats(x), backend.floats(weight!), backend.floats(inverse!),
    dx.floats, dw.floats, rows, width,
  );
  return [dx.info, dw.info];
};

const linear: EngineKernel = (backend, inputs) => {
  const { x, weight, bias } = inputs as { x: TensorInfo; weight: TensorInfo; bias?: TensorInfo };
  const { rows } = rowsOf(x);
  const outputs = weight.shape[0]!;
  const y = backend.output([...x.shape.slice(0, -1), outputs]);
  project(backend, backend.floats(x), weight, y.floats, rows);
  if (bias) backend.engine.call.add_bias(y.floats, backend.floats(bias), rows, outputs);
  return y.info;
};

const linearGrad: EngineKernel = (backend, inputs, { biased }) => {
  const { dy, x, weight } = inputs as Record<"dy" | "x" | "weight", TensorInfo>;
  const { rows } = rowsOf(x);
  const slope = backend.floats(dy);
  const dx = backend.output(x.shape);
  projectBack(backend, slope, weight, dx.floats, rows, false);
  const dw = weightGradient(backend, slope, backend.floats(x), weight.shape, rows);
  return biased ? [dx.info, dw, columnSum(backend, slope, rows, weight.shape[0]!)] : [dx.info, dw];
};

/** q, k, v, and for a model with head norms: q and k before them, with the norms' inverses. */
const qkv: EngineKernel = (backend, inputs, { heads, kvHeads, headDim, epsilon }) => {
  const { x, cos, sin } = inputs as Record<"x" | "cos" | "sin", TensorInfo>;
  const [batch, time] = x.shape as [number, number];
  const call = backend.engine.call;
  const extra: TensorInfo[] = [];
  const results = (["q", "k", "v"] as const).map((letter) => {
    const count = letter === "q" ? heads! : kvHeads!;
    const rows = batch * time;
    const bias = inputs[`b${letter}`];
    const norm = letter === "v" ? undefined : inputs[`${letter}Norm`];
    let out = backend.output([batch, time, count, headDim!]);
    project(backend, backend.floats(x), inputs[`w${letter}`]!, out.floats, rows);
    if (bias) call.add_bias(out.floats, backend.floats(bias), rows, count * headDim!);
    if (norm) {
      const before = out;
      out = backend.output(before.info.shape);
      const inverse = backend.output([rows * count]);
      // prettier-ignore
      call.rms_norm(
        before.floats, backend.floats(norm), out.floats, inverse.floats, rows * count, headDim!,
        epsilon!,
      );
      extra.push(before.info, inverse.info);
    }
    if (letter !== "v") {
      // prettier-ignore
      call.rope(
        out.floats, out.floats, backend.floats(cos), backend.floats(sin), batch, time, count,
        headDim!, false,
      );
    }
    return out.info;
  });
  return [...results, ...extra];
};

/** dx, then for each of q, k, v: the weight's, the bias's and the norm's gradient, where given. */
const qkvGrad: EngineKernel = (backend, inputs, { biased, headDim }) => {
  const { x, cos, sin } = inputs as Record<"x" | "cos" | "sin", TensorInfo>;
  const [batch, time] = x.shape as [number, number];
  const call = backend.engine.call;
  const rows = batch * time;
  const dx = backend.output(x.shape);
  const gradients: TensorInfo[] = [dx.info];
  for (const letter of ["q", "k", "v"] as const) {
    const weight = inputs[`w${letter}`]!;
    const outputs = weight.shape[0]!;
    const count = outputs / headDim!;
    const given = inputs[`d${letter}`]!;
    let slope = backend.floats(given);
    const scratch: Floats[] = [];
    let normGradient: TensorInfo | undefined;
    if (letter !== "v") {
      const turned = backend.engine.allocate(rows * outputs);
      scratch.push(turned);
      // prettier-ignore
      call.rope(
        slope, turned, backend.floats(cos), backend.floats(sin), batch, time, count, headDim!, true,
      );
      slope = turned;
      const norm = inputs[`${letter}Norm`];
      if (norm) {
        const before = backend.engine.allocate(rows * outputs);
        scratch.push(before);
        const dnorm = backend.output(norm.shape);
        // prettier-ignore
        call.rms_norm_grad(
          slope, backend.floats(inputs[`${letter}Before`]!), backend.floats(norm),
          backend.floats(inputs[`${letter}Inverse`]!), before, dnorm.floats, rows * count, headDim!,
        );
        slope = before;
        normGradient = dnorm.info;
      }
    }
    projectBack(backend, slope, weight, dx.floats, rows, letter !== "q");
    gradients.push(weightGradient(backend, slope, backend.floats(x), weight.shape, rows));
    if (biased) gradients.push(columnSum(backend, slope, rows, outputs));
    if (normGradient) gradients.push(normGradient);
    for (const floats of scratch) backend.engine.release(floats);
  }
  return gradients;
};

/** Turned by the angles of the positions, or back. */
const rope: EngineKernel = (backend, inputs, { back }) => {
  const { x, cos, sin } = inputs as Record<"x" | "cos" | "sin", TensorInfo>;
  const [batch, time, count, headDim] = x.shape as [number, number, number, number];
  const out = backend.output(x.shape);
  // prettier-ignore
  backend.engine.call.rope(
    backend.floats(x), out.floats, backend.floats(cos), backend.floats(sin), batch, time, count,
    headDim, Boolean(back),
  );
  return out.info;
};

/** The rows of the batch, and where they share tokens which stands where: the engine reads a row's own in one piece. */
const rowsSeen = (
  backend: EngineBackend,
  { q, lengths, unfold }: { q: TensorInfo; lengths?: TensorInfo; unfold?: TensorInfo },
) => {
  const [batch, time] = (unfold ?? q).shape as [number, number];
  const counts = lengths ? backend.ints(lengths) : null;
  if (!unfold) return { batch, time, counts, places: null };
  const places = backend.ints(unfold);
  let next = 0;
  for (let b = 0; b < batch; b++) {
    const end = b * time + (counts?.[b] ?? time);
    let at = b * time;
    while (at < end && places[at]! >= 0 && places[at]! < next) at++;
    for (; at < end; at++) {
      if (places[at] === next++) continue;
      const rule = "tokens that no row before has must be numbered in order";
      throw new RangeError(`Cannot attend: ${rule}, got ${places[at]} for ${next - 1} (row ${b})`);
    }
  }
  if (next !== q.shape[1]) {
    throw new RangeError(
      `Cannot attend: every token must stand in a row, got ${next} in rows of ${q.shape[1]}`,
    );
  }
  return { batch, time, counts, places };
};

const attention: EngineKernel = (backend, inputs, { window = 0 }) => {
  const { q, k, v } = inputs as Record<"q" | "k" | "v", TensorInfo>;
  const { batch, time, places, counts } = rowsSeen(backend, { ...inputs, q });
  const [heads, headDim] = q.shape.slice(2) as [number, number];
  const out = backend.output([...q.shape.slice(0, 2), heads * headDim]);
  const normaliser = backend.output([batch, heads, time]);
  // prettier-ignore
  backend.engine.call.attention(
    backend.floats(q), backend.floats(k), backend.floats(v),
    counts, places, out.floats, normaliser.floats,
    batch, time, heads, k.shape[2]!, headDim, window,
  );
  return [out.info, normaliser.info];
};

const attentionGrad: EngineKernel = (backend, inputs, { window = 0 }) => {
  const { dy, q, k, v, out, normaliser } = inputs as Record<
    "dy" | "q" | "k" | "v" | "out" | "normaliser",
    TensorInfo
  >;
  const { batch, time, places, counts } = rowsSeen(backend, { ...inputs, q });
  const [heads, headDim] = q.shape.slice(2) as [number, number];
  const [dq, dk, dv] = [q, k, v].map((t) => backend.output(t.shape));
  // Of a token that rows share, the gradients of its places add up, in the order of the rows.
  const width = k.shape[2]! * headDim;
  const [atK, atV] = [dk!, dv!].map(({ floats }) =>
    places ? backend.engine.allocate(batch * time * width) : floats,
  );
  // prettier-ignore
  backend.engine.call.attention_grad(
    backend.floats(dy), backend.floats(q), backend.floats(k), backend.floats(v),
    counts, places, backend.floats(out), backend.floats(normaliser),
    dq!.floats, atK!, atV!, batch, time, heads, k.shape[2]!, headDim, window,
  );
  if (places) {
    for (const [from, to] of [
      [atK!, dk!],
      [atV!, dv!],
    ] as const) {
      // prettier-ignore
      backend.engine.call.embed_grad(from, places, to.floats, batch * time, width, q.shape[1]!);
      backend.engine.release(from);
    }
  }
  return [dq!.info, dk!.info, dv!.info];
};

/** An activation of the gates, times the rest: `swiglu` or `geglu`. */
const gated =
  (kind: "swiglu" | "geglu"): EngineKernel =>
  (backend, inputs) => {
    const { gate, up } = inputs as Record<"gate" | "up", TensorInfo>;
    const { rows, width } = rowsOf(gate);
    const out = backend.output(gate.shape);
    const call = backend.engine.call[kind];
    call(backend.floats(gate), backend.floats(up), out.floats, rows * width);
    return out.info;
  };

const gatedGrad =
  (kind: "swiglu_grad" | "geglu_grad"): EngineKernel =>
  (backend, inputs) => {
    const { dy, gate, up } = inputs as Record<"dy" | "gate" | "up", TensorInfo>;
    const { rows, width } = rowsOf(gate);
    const [dgate, dup] = [backend.output(gate.shape), backend.output(gate.shape)];
    const call = backend.engine.call[kind];
    // prettier-ignore
    call(
      backend.floats(dy), backend.floats(gate), backend.floats(up), dgate.floats, dup.floats,
      rows * width,
    );
    return [dgate.info, dup.info];
  };

/** The fused ops of a transformer block. */
export const transformerKernels: Readonly<Record<string, EngineKernel>> = {
  ArpoRmsNorm: rmsNorm,
  ArpoRmsNormGrad: rmsNormGrad,
  ArpoLinear: linear,
  ArpoLinearGrad: linearGrad,
  ArpoQkv: qkv,
  ArpoQkvNormed: qkv,
  ArpoQkvGrad: qkvGrad,
  ArpoRope: rope,
  ArpoCausalAttention: attention,
  ArpoCausalAttentionPadded: attention,
  ArpoCausalAttentionGrad: attentionGrad,
  ArpoWindowAttention: attention,
  ArpoWindowAttentionPadded: attention,
  ArpoWindowAttentionGrad: attentionGrad,
  ArpoSharedAttention: attention,
  ArpoSharedAttentionGrad: attentionGrad,
  ArpoSwiglu: gated("swiglu"),
  ArpoSwigluGrad: gatedGrad("swiglu_grad"),
  ArpoGeglu: gated("geglu"),
  ArpoGegluGrad: gatedGrad("geglu_grad"),
};
