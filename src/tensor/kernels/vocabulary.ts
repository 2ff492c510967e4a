import type { TensorInfo } from "#tfjs";
import { type EngineKernel, rowsOf } from "./kernel.js";

function checkIds(ids: Int32Array, vocabulary: number, what: string): void {
  for (const id of ids) {
    if (!(id >= 0 && id < vocabulary)) {
      throw new RangeError(`Cannot ${what}: ids must be from 0 to ${vocabulary - 1}, got ${id}`);
    }
  }
}

const embed: EngineKernel = (backend, inputs) => {
  const { table, ids } = inputs as Record<"table" | "ids", TensorInfo>;
  const [vocabulary, width] = table.shape as [number, number];
  const names = backend.ints(ids);
  checkIds(names, vocabulary, "embed");
  const out = backend.output([...ids.shape, width]);
  backend.engine.call.embed(backend.floats(table), names, out.floats, names.length, width);
  return out.info;
};

const embedGrad: EngineKernel = (backend, inputs, { vocabulary }) => {
  const { dy, ids } = inputs as Record<"dy" | "ids", TensorInfo>;
  const { width } = rowsOf(dy);
  const names = backend.ints(ids);
  const dtable = backend.output([vocabulary!, width]);
  // prettier-ignore
  backend.engine.call.embed_grad(
    backend.floats(dy), names, dtable.floats, names.length, width, vocabulary!,
  );
  return dtable.info;
};

const logProbEntropy: EngineKernel = (backend, inputs, { temperature }) => {
  const { hidden, head, labels } = inputs as Record<"hidden" | "head" | "labels", TensorInfo>;
  const { rows, width } = rowsOf(hidden);
  const names = backend.ints(labels);
  checkIds(names, head.shape[0]!, "take log-probabilities");
  const [logprobs, entropies, normaliser] = [0, 1, 2].map(() => backend.output([rows]));
  // prettier-ignore
  backend.engine.call.log_prob_entropy(
    backend.floats(hidden), backend.floats(head), names,
    logprobs!.floats, entropies!.floats, normaliser!.floats,
    rows, width, head.shape[0]!, temperature!,
  );
  return [logprobs!.info, entropies!.info, normaliser!.info];
};

const logProbEntropyGrad: EngineKernel = (backend, inputs, { temperature, frozen }) => {
  const { dlogprobs, dentropies, hidden, head, labels, entropies, normaliser } = inputs as Record<
    "dlogprobs" | "dentropies" | "hidden" | "head" | "labels" | "entropies" | "normaliser",
    TensorInfo
  >;
  const { rows, width } = rowsOf(hidden);
  const dhidden = backend.output(hidden.shape);
  const dhead = frozen ? undefined : backend.output(head.shape);
  // prettier-ignore
  backend.engine.call.log_prob_entropy_grad(
    backend.floats(dlogprobs), backend.floats(dentropies), backend.floats(hidden),
    backend.floats(head), backend.ints(labels), backend.floats(entropies),
    backend.floats(normaliser), dhidden.floats, dhead?.floats ?? null,
    rows, width, head.shape[0]!, temperature!,
  );
  return dhead ? [dhidden.info, dhead.info] : [dhidden.info];
};

const topK: EngineKernel = (backend, inputs, { k, temperature }) => {
  const { hidden, head } = inputs as Record<"hidden" | "head", TensorInfo>;
  const { rows, width } = rowsOf(hidden);
  const logprobs = backend.output([rows, k!]);
  const ids = new Int32Array(rows * k!);
  // prettier-ignore
  backend.engine.call.top_k(
    backend.floats(hidden), backend.floats(head), logprobs.floats, ids,
    rows, width, head.shape[0]!, k!, temperature!,
  );
  return [logprobs.info, backend.makeTensorInfo([rows, k!], "int32", ids)];
};

/** Both ends of a model, where ids meet vectors. */
export const vocabularyKernels: Readonly<Record<string, EngineKernel>> = {
  ArpoEmbed: embed,
  ArpoEmbedGrad: embedGrad,
  ArpoLogProbEntropy: logProbEntropy,
  ArpoLogProbEntropyGrad: logProbEntropyGrad,
  ArpoTopK: topK,
};
