/** Checkpoints of other programs. Experimental: may change in any release. */

export { readBaseFiles, type BaseFiles } from "../../convert/base-files.js";
export {
  compareCheckpoints,
  type CompareOptions,
  type Comparison,
  type TensorComparison,
} from "../../convert/compare-checkpoints.js";
export {
  convertCheckpoint,
  type Conversion,
  type ConvertOptions,
} from "../../convert/convert-checkpoint.js";
export {
  fetchModel,
  type FetchedModel,
  type FetchOptions,
} from "../../convert/fetch/fetch-model.js";
export { openCheckpoint } from "../../convert/open-checkpoint.js";
export { openFolder } from "../../convert/open-checkpoint.js";
export { openShards } from "../../convert/open-shards.js";
export {
  PickleObject,
  unpickle,
  type PickleGlobal,
  type UnpickleOptions,
} from "../../convert/pickle.js";
export { TorchArchive } from "../../convert/torch-archive.js";
export type { TorchStorage, TorchTensor, TorchType } from "../../convert/torch-globals.js";
export type { WeightEntry, WeightSource } from "../../convert/weight-source.js";
export { withAdapter } from "../../convert/with-adapter.js";
