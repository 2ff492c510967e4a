// Writers of pickles and torch archives for tests, valid or not.
import { crc32, deflateRawSync } from "node:zlib";

const bytes = (...parts: (number | string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === "number"
        ? Buffer.of(part)
        : typeof part === "string"
          ? Buffer.from(part, "latin1")
          : part,
    ),
  );

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value >>> 0);
  return out;
}

function u64(value: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
}

/** Pieces of pickles: each leaves one value on the stack. */
export const pickle = {
  bytes,
  u32,
  u64,
  none: bytes("N"),
  false: bytes(0x89),
  int: (value: number) => bytes("J", u32(value >>> 0)),
  text: (value: string) => bytes("X", u32(Buffer.byteLength(value)), Buffer.from(value)),
  global: (module: string, name: string) => bytes(`c${module}\n${name}\n`),
  tuple: (...items: Buffer[]) => bytes("(", ...items, "t"),
  list: (...items: Buffer[]) => bytes("](", ...items, "e"),
  dict: (items: Record<string, Buffer>) =>
    bytes("}(", ...Object.entries(items).flatMap(([key, value]) => [pickle.text(key), value]), "u"),
  call: (what: Buffer, ...args: Buffer[]) => bytes(what, pickle.tuple(...args), "R"),
  object: (type: Buffer, state?: Buffer) => bytes(type, ")", 0x81, ...(state ? [state, "b"] : [])),
  whole: (value: Buffer, protocol = 2) => bytes(0x80, protocol, value, "."),
};

const { call, dict, global, int, none, object, text, tuple } = pickle;

/** Where a tensor looks: a storage, an offset, a shape and strides. */
export interface TensorPlace {
  key: string;
  length: number;
  shape: number[];
  offset?: number;
  strides?: number[];
  kind?: string;
}

/** A tensor as torch.save describes it. */
export function tensor({ key, length, shape, offset = 0, strides, kind }: TensorPlace): Buffer {
  const rows = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  const storage = bytes(
    tuple(
      ...[text("storage"), global("torch", kind ?? "FloatStorage")],
      ...[text(key), text("cpu"), int(length)],
    ),
    "Q",
  );
  return call(
    global("torch._utils", "_rebuild_tensor_v2"),
    ...[storage, int(offset), tuple(...shape.map(int)), tuple(...(strides ?? rows).map(int))],
    ...[pickle.false, call(global("collections", "OrderedDict"))],
  );
}

/** A placement of DTensor. */
export function placement(name: string, dim?: number): Buffer {
  const state: Record<string, Buffer> = dim === undefined ? {} : { dim: int(dim) };
  return object(global("torch.distributed.tensor.placement_types", name), dict(state));
}

/** A DTensor in the way of PyTorch 2.5, whose mesh holds a tensor of ranks. */
export function dtensor(
  local: Buffer,
  whole: number[],
  placements: Buffer[],
  mesh: { names: string[]; ranks: TensorPlace },
  module = "torch.distributed.tensor",
): Buffer {
  const meta = bytes(
    global(`${module}._dtensor_spec`, "TensorMeta"),
    tuple(call(global("torch", "Size"), tuple(...whole.map(int))), tuple(), none),
    0x81,
  );
  const spec = object(
    global(`${module}._dtensor_spec`, "DTensorSpec"),
    dict({
      mesh: object(
        global("torch.distributed.device_mesh", "DeviceMesh"),
        dict({
          mesh: tensor({ kind: "LongStorage", ...mesh.ranks }),
          mesh_dim_names: tuple(...mesh.names.map(text)),
        }),
      ),
      placements: tuple(...placements),
      tensor_meta: meta,
    }),
  );
  const type = global(module, "DTensor");
  return call(
    global("torch._tensor", "_rebuild_from_type_v2"),
    ...[global("torch._utils", "_rebuild_wrapper_subclass"), type, tuple(type)],
    tuple(none, dict({ _local_tensor: local, _spec: spec })),
  );
}

/** What of a zip is to be otherwise, or out of order. */
export interface ZipFaults {
  /** Sizes and positions in 64 bits. */
  zip64?: boolean;
  method?: number;
  /** Files are compressed. */
  deflate?: boolean;
  flags?: number;
  /** The name in the header before the data, where it is not that of the directory. */
  headerName?: string;
  badSum?: string;
  /** All files point at the first. */
  overlap?: boolean;
}

/** A zip archive of stored or compressed files. */
export function zip(files: readonly [string, Buffer][], faults: ZipFaults = {}): Buffer {
  const { zip64 = false, deflate = false, method = deflate ? 8 : 0, flags = 0 } = faults;
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  const u16 = (value: number) => u32(value).subarray(0, 2);
  for (const [name, contents] of files) {
    const data = deflate ? deflateRawSync(contents) : contents;
    const sum = u32(crc32(contents) ^ (faults.badSum === name ? 1 : 0));
    const size = u32(zip64 ? 0xffffffff : data.length);
    const extra = zip64
      ? bytes(u16(1), u16(24), u64(data.length), u64(data.length), u64(faults.overlap ? 0 : at))
      : Buffer.alloc(0);
    const encoded = Buffer.from(name);
    const common = bytes(
      u16(20),
      u16(flags),
      u16(method),
      u32(0),
      sum,
      size,
      deflate ? u32(contents.length) : size,
      u16(encoded.length),
    );
    const header = Buffer.from(faults.headerName ?? name).subarray(0, encoded.length);
    const pad = Buffer.alloc(3, "Z"); // PyTorch aligns data with an extra field
    const local = bytes("PK\x03\x04", common, u16(pad.length), header, pad, data);
    directory.push(
      bytes("PK\x01\x02", u16(20), common, u16(extra.length), u16(0), u16(0), u16(0), u32(0)),
      bytes(u32(zip64 ? 0xffffffff : faults.overlap ? 0 : at), encoded, extra),
    );
    parts.push(local);
    at += local.length;
  }
  const index = bytes(...directory);
  const count = files.length;
  const wide = bytes(
    ...["PK\x06\x06", u64(44), u16(20), u16(20), u32(0), u32(0)],
    ...[u64(count), u64(count), u64(index.length), u64(at)],
    ...["PK\x06\x07", u32(0), u64(at + index.length), u32(1)],
  );
  return bytes(
    ...parts,
    index,
    ...(zip64 ? [wide] : []),
    ...["PK\x05\x06", u16(0), u16(0), u16(count), u16(count)],
    ...[u32(zip64 ? 0xffffffff : index.length), u32(zip64 ? 0xffffffff : at), u16(0)],
  );
}

/** A torch archive: its pickle and its storages. */
export function archive(
  value: Buffer,
  storages: Record<string, ArrayBufferView>,
  faults: ZipFaults & { order?: string } = {},
): Buffer {
  return zip(
    [
      ["archive/data.pkl", pickle.whole(value)],
      ["archive/byteorder", Buffer.from(faults.order ?? "little")],
      ...Object.entries(storages).map(([key, { buffer, byteOffset, byteLength }]) => {
        return [`archive/data/${key}`, Buffer.from(buffer, byteOffset, byteLength)] as [
          string,
          Buffer,
        ];
      }),
      ["archive/version", Buffer.from("3\n")],
    ],
    faults,
  );
}
