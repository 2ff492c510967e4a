/** Checkpoints of other programs. Experimental: may change in any release. */

export { readBaseFiles, type BaseFiles } from "../../interop/convert/base-files.js";
export {
  compareCheckpoints,
  type CompareOptions,
  type Comparison,
  type TensorComparison,
} from "../../interop/convert/compare-checkpoints.js";
export {
  convertCheckpoint,
  type Conversion,
  type ConvertOptions,
} from "../../interop/convert/convert-checkpoint.js";
export {
  fetchModel,
  type FetchedModel,
  type FetchOptions,
} from "../../interop/convert/fetch/fetch-model.js";
export { openCheckpoint } from "../../interop/convert/open-checkpoint.js";
export { openFolder } from "../../interop/convert/open-checkpoint.js";
export { openShards } from "../../interop/convert/open-shards.js";
export {
  PickleObject,
  unpickle,
  type PickleGlobal,
  type UnpickleOptions,
} from "../../interop/convert/pickle.js";
export { TorchArchive } from "../../interop/convert/torch-archive.js";
export type { TorchStorage, TorchTensor, TorchType } from "../../interop/convert/torch-globals.js";
export type { WeightEntry, WeightSource } from "../../interop/convert/weight-source.js";
export { withAdapter } from "../../interop/convert/with-adapter.js";
