import { addAttributes, PickleObject, type PickleGlobal } from "./pickle.js";
import { tellPickled } from "./pickle-names.js";

/** The types of numbers that a storage may hold, with their width in bytes. */
export const numberWidths = {
  ...{ float64: 8, float32: 4, float16: 2, bfloat16: 2 },
  ...{ int64: 8, int32: 4, int16: 2, int8: 1, uint8: 1, bool: 1 },
} as const;

export type TorchType = keyof typeof numberWidths;

/** A storage of an archive: a row of numbers in `data/KEY`, which tensors look at. */
export class TorchStorage {
  constructor(
    readonly type: TorchType,
    readonly key: string,
    readonly length: number,
  ) {}
}

/** A tensor of an archive: where its numbers lie; they are read when asked for. */
export class TorchTensor {
  constructor(
    readonly storage: TorchStorage,
    readonly offset: number,
    readonly shape: readonly number[],
    readonly strides: readonly number[],
  ) {}
}

const storages: Record<string, TorchType> = {
  ...{ DoubleStorage: "float64", FloatStorage: "float32", HalfStorage: "float16" },
  ...{ BFloat16Storage: "bfloat16", LongStorage: "int64", IntStorage: "int32" },
  ...{ ShortStorage: "int16", CharStorage: "int8", ByteStorage: "uint8", BoolStorage: "bool" },
};

const refuse = (rule: string, got: unknown): never => {
  throw new SyntaxError(`Cannot read a torch archive: ${rule}, got ${tellPickled(got)}`);
};

const natural = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

function sizes(value: unknown, what: string): readonly number[] {
  if (Array.isArray(value) && value.length <= 64 && value.every(natural)) return value;
  return refuse(`${what} must be a tuple of numbers from 0 up`, value);
}

/** A tensor over a storage; all of it must lie there. */
function rebuildTensor(args: readonly unknown[]): TorchTensor {
  const [storage, offset, size, stride] = args;
  if (!(storage instanceof TorchStorage)) return refuse("a tensor must look at a storage", storage);
  if (!natural(offset)) return refuse("a tensor's offset must be a number from 0 up", offset);
  const shape = sizes(size, "a shape");
  const strides = sizes(stride, "strides");
  if (shape.length !== strides.length)
    return refuse(`${shape.length} strides must be given`, strides);
  const count = shape.reduce((a, b) => a * b, 1);
  const last = shape.reduce((sum, n, i) => sum + (n - 1) * strides[i]!, offset);
  if (count > storage.length || (count > 0 && last >= storage.length)) {
    return refuse(
      `a tensor [${shape}] of strides [${strides}] from ${offset} must lie in its storage`,
      storage.length,
    );
  }
  return new TorchTensor(storage, offset, shape, strides);
}

/** An instance of a tensor class: DTensor, or a parameter with attributes. */
function rebuildFromType(args: readonly unknown[]): unknown {
  const [make, type, given, state] = args as [PickleGlobal, PickleGlobal, unknown[], unknown];
  if (
    type?.name?.endsWith(".DTensor") !== true ||
    make?.name !== "torch._utils._rebuild_wrapper_subclass"
  ) {
    return refuse("a tensor's class must be DTensor", type);
  }
  const made = new PickleObject("DTensor", given);
  addAttributes(made, state);
  return made;
}

function only(text: string, name: string) {
  return (args: readonly unknown[]) =>
    args.length === 1 && args[0] === text ? text : refuse(`${name} must be ${text}`, args[0]);
}

function makeGlobals(): Map<string, PickleGlobal> {
  const all = new Map<string, PickleGlobal>();
  const add = (module: string, name: string, rest: Omit<PickleGlobal, "name"> = {}) =>
    all.set(`${module} ${name}`, { name: `${module}.${name}`, ...rest });

  const dict = (args: readonly unknown[]) =>
    args.length === 0 ? new Map() : refuse("a dict must begin empty", args.length);
  add("collections", "OrderedDict", { call: dict, make: dict });
  add("torch._utils", "_rebuild_tensor", { call: rebuildTensor });
  add("torch._utils", "_rebuild_tensor_v2", { call: rebuildTensor });
  add("torch._utils", "_rebuild_parameter", {
    call: ([data]) =>
      data instanceof TorchTensor || data instanceof PickleObject
        ? data
        : refuse("a parameter must be a tensor", data),
  });
  add("torch._utils", "_rebuild_wrapper_subclass");
  add("torch._tensor", "_rebuild_from_type_v2", { call: rebuildFromType });
  add("torch", "Size", { call: ([size]) => sizes(size, "a size") });
  add("torch", "device", { call: (args) => new PickleObject("torch.device", args) });
  add("torch.serialization", "_get_layout", { call: only("torch.strided", "the layout") });
  for (const name of Object.keys(storages)) add("torch", name);
  for (const type of Object.keys(numberWidths)) add("torch", type);

  // Where DTensor's parts lived in PyTorch 2.2 to 2.15. Their attributes are read, nothing else.
  const data = (module: string, names: string) => {
    for (const name of names.split(" ")) {
      add(module, name, { make: (args) => new PickleObject(name, args) });
    }
  };
  for (const prefix of ["torch.distributed._tensor", "torch.distributed.tensor"]) {
    for (const module of [prefix, `${prefix}.api`, `${prefix}._api`]) add(module, "DTensor");
    for (const module of [prefix, `${prefix}.placement_types`]) {
      data(module, "Shard Replicate Partial _Partial _StridedShard DTensorSpec TensorMeta");
    }
    data(`${prefix}._dtensor_spec`, "DTensorSpec TensorMeta ShardOrderEntry");
  }
  data("torch.distributed.device_mesh", "DeviceMesh");
  data("torch.distributed._tensor.device_mesh", "DeviceMesh");
  data("torch.distributed._mesh_layout", "_MeshLayout _FlatLayout");
  return all;
}

/** The names that PyTorch's archives of weights use, all of them data. */
export const torchGlobals: ReadonlyMap<string, PickleGlobal> = makeGlobals();

/** The storage a persistent id names: `("storage", type, key, device, length)`. */
export function torchStorage(id: unknown): TorchStorage {
  if (!Array.isArray(id) || id.length !== 5 || id[0] !== "storage") {
    return refuse("a persistent id must name a storage", id);
  }
  const [, kind, key, , length] = id as unknown[];
  const name = (kind as PickleGlobal | null)?.name;
  const type = storages[String(name).replace(/^torch\./, "")];
  if (!type || torchGlobals.get(String(name).replace(".", " ")) !== kind) {
    return refuse("a storage must have a known type", name);
  }
  if (typeof key !== "string" || !/^\w+$/.test(key))
    return refuse("a storage's key must be a word", key);
  if (!natural(length)) return refuse("a storage's length must be a number from 0 up", length);
  return new TorchStorage(type, key, length);
}
