import { checkArguments } from "../../../common/options/check-arguments.js";
import { readdir } from "#platform/files";
import { join } from "#platform/path";
import { PickleObject } from "./pickle.js";
import { tellPickled } from "./pickle-names.js";
import { TorchArchive } from "./torch-archive.js";
import { TorchTensor } from "./torch-globals.js";
import type { WeightEntry, WeightSource } from "./weight-source.js";

const refuse = (rule: string, got: string): never => {
  throw new RangeError(`Cannot merge shards: ${rule}, got ${got}`);
};

/** One rank's part of a tensor: along which dimension it is cut (undefined: every rank has it whole). */
interface Part {
  tensor: TorchTensor;
  cut: number | undefined;
  /** The shape of the whole, where the part says it. */
  whole: readonly number[] | undefined;
}

/** How many ranks hold parts that differ, and whether a first dimension of copies comes before them. */
interface Mesh {
  shards: number;
  copies: boolean;
}

/** The names of a mesh's dimensions, and its sizes: from its tensor of ranks, or from its layout. */
function readMesh(mesh: unknown): Mesh {
  if (!(mesh instanceof PickleObject))
    return refuse("a DTensor must have a mesh", tellPickled(mesh));
  const state = mesh.state;
  const names = state.get("_mesh_dim_names") ?? state.get("mesh_dim_names");
  const text = Array.isArray(names) ? names.join(",") : "no names";
  if (text !== "fsdp" && text !== "ddp,fsdp") {
    return refuse("the mesh must be (fsdp) or (ddp, fsdp)", `(${text})`);
  }
  const dimensions = text === "fsdp" ? 1 : 2;
  const ranks = state.get("mesh") ?? state.get("_mesh");
  const sizes =
    ranks instanceof TorchTensor ? ranks.shape : (layoutSizes(state.get("_layout")) ?? []);
  const shards = sizes.at(-1);
  if (shards === undefined || sizes.length !== dimensions) {
    return refuse(`the mesh must say ${dimensions} sizes`, `[${sizes}]`);
  }
  return { shards, copies: dimensions === 2 };
}

/** Sizes of a mesh since PyTorch 2.10: one axis of its layout for each, of shapes to be multiplied. */
function layoutSizes(layout: unknown): number[] | undefined {
  if (!(layout instanceof PickleObject)) return undefined;
  const shape = layout.state.get("shape") ?? layout.state.get("_shape");
  const axes = layout.state.get("axes") ?? (Array.isArray(shape) ? shape : [shape]);
  if (!Array.isArray(axes) || axes.length > 2) return undefined;
  const sizes = axes.map((axis: unknown) => {
    const factors: unknown = axis instanceof PickleObject ? axis.state.get("shape") : axis;
    const list: unknown[] = Array.isArray(factors) ? factors.slice(0, 8) : [factors];
    return list.reduce<number>((product, n) => (typeof n === "number" ? product * n : NaN), 1);
  });
  return sizes.every((size) => Number.isSafeInteger(size) && size > 0) ? sizes : undefined;
}

/** A placement as the dimension it cuts; undefined for a copy. */
function readPlacement(placement: unknown, name: string): number | undefined {
  if (placement instanceof PickleObject) {
    if (placement.type === "Replicate") return undefined;
    const cut = placement.state.get("dim") ?? placement.args[0];
    if (placement.type === "Shard" && Number.isSafeInteger(cut)) return cut as number;
  }
  return refuse(`${name} must be placed as Shard or Replicate`, tellPickled(placement));
}

function readPart(value: unknown, name: string, mesh: Mesh): Part {
  if (value instanceof TorchTensor) return { tensor: value, cut: 0, whole: undefined };
  if (!(value instanceof PickleObject) || value.type !== "DTensor") {
    return refuse(`${name} must be a tensor`, tellPickled(value));
  }
  const tensor = value.state.get("_local_tensor");
  const spec = value.state.get("_spec");
  if (!(tensor instanceof TorchTensor) || !(spec instanceof PickleObject)) {
    return refuse(`${name} must have a local tensor and a spec`, tellPickled(tensor));
  }
  const all = spec.state.get("placements");
  const placements: unknown[] = Array.isArray(all) ? all.slice(mesh.copies ? 1 : 0) : [];
  if (placements.length !== 1) {
    return refuse(`${name} must have a placement for each dimension of the mesh`, tellPickled(all));
  }
  let cut = readPlacement(placements[0], name);
  if (cut !== undefined && cut < 0) cut += tensor.shape.length;
  if (cut !== undefined && !(cut >= 0 && cut < tensor.shape.length)) {
    return refuse(
      `${name} must be cut along one of its ${tensor.shape.length} dimensions`,
      `${cut}`,
    );
  }
  const meta = spec.state.get("tensor_meta");
  const whole =
    meta instanceof PickleObject ? (meta.args[0] ?? meta.state.get("shape")) : undefined;
  return { tensor, cut, whole: Array.isArray(whole) ? (whole as number[]) : undefined };
}

/** The shape of parts joined along a dimension; all others must agree. */
function joinedShape(name: string, parts: readonly Part[], cut: number): number[] {
  const shape = [...parts[0]!.tensor.shape];
  if (shape.length === 0) return refuse(`${name} must have a dimension to join`, "a single number");
  shape[cut] = 0;
  for (const { tensor } of parts) {
    const fits =
      tensor.shape.length === shape.length &&
      tensor.shape.every((n, d) => d === cut || n === shape[d]);
    if (!fits) refuse(`parts of ${name} must agree but for dimension ${cut}`, `[${tensor.shape}]`);
    shape[cut]! += tensor.shape[cut]!;
  }
  const { whole } = parts[0]!;
  if (whole && `${whole}` !== `${shape}`) {
    refuse(`the parts of ${name} must make [${whole}]`, `[${shape}]`);
  }
  return shape;
}

/** Values of parts, one after the other along a dimension. */
function joinValues(
  parts: readonly Float32Array[],
  shapes: readonly (readonly number[])[],
  cut: number,
) {
  if (parts.length === 1) return parts[0]!;
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  const outer = shapes[0]!.slice(0, cut).reduce((a, b) => a * b, 1);
  let at = 0;
  for (let row = 0; row < outer; row++) {
    for (const part of parts) {
      const length = part.length / outer;
      out.set(part.subarray(row * length, (row + 1) * length), at);
      at += length;
    }
  }
  return out;
}

function stateDict(archive: TorchArchive): Map<string, unknown> {
  const root = archive.root;
  if (
    !(root instanceof Map) ||
    root.size === 0 ||
    [...root.keys()].some((k) => typeof k !== "string")
  ) {
    return refuse(`${archive.path} must hold a dict of named tensors`, tellPickled(root));
  }
  return root as Map<string, unknown>;
}

const fileName = (world: number, rank: number) => `model_world_size_${world}_rank_${rank}.pt`;

async function worldSize(folder: string): Promise<number> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) =>
    refuse(`${folder} must be readable`, error.code ?? error.message),
  );
  const worlds = names.flatMap(
    (name) => /^model_world_size_(\d+)_rank_0\.pt$/.exec(name)?.[1] ?? [],
  );
  if (worlds.length !== 1) {
    refuse(
      `${folder} must hold one model_world_size_W_rank_0.pt`,
      worlds.length === 0 ? "none" : `W = ${worlds.join(", ")}`,
    );
  }
  return Number(worlds[0]);
}

/**
 * A verl checkpoint's shards (`model_world_size_W_rank_R.pt`) as one set of weights, joined as verl's
 * merger joins them: the first name's mesh says how many ranks differ; parts are joined in rank order
 * along the dimension they are cut, copies are taken from rank 0, and tensors that are no DTensors are
 * joined along dimension 0. Nothing in the files is run.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openShards } from "arpo-lab/experimental/convert";
 *
 * await assert.rejects(openShards("src"), /must hold one model_world_size_W_rank_0\.pt/);
 * ```
 */
export async function openShards(folder: string): Promise<WeightSource> {
  checkArguments("open a checkpoint", { folder }, { folder: "path" });
  const world = await worldSize(folder);
  const archives: TorchArchive[] = [];
  const close = async () => {
    for (const archive of archives) await archive.close();
  };
  try {
    const first = await TorchArchive.open(join(folder, fileName(world, 0)));
    archives.push(first);
    const names = [...stateDict(first).keys()].sort();
    const pivot = stateDict(first).get(names[0]!);
    const spec = pivot instanceof PickleObject ? pivot.state.get("_spec") : undefined;
    const mesh: Mesh =
      spec instanceof PickleObject
        ? readMesh(spec.state.get("mesh"))
        : { shards: world, copies: false };
    if (mesh.shards > world) refuse(`the mesh must have at most ${world} shards`, `${mesh.shards}`);
    for (let rank = 1; rank < mesh.shards; rank++) {
      archives.push(await TorchArchive.open(join(folder, fileName(world, rank))));
    }
    const parts = new Map<string, Part[]>();
    const tensors = new Map<string, WeightEntry>();
    for (const archive of archives) {
      const dict = stateDict(archive);
      const other =
        names.find((name) => !dict.has(name)) ??
        [...dict.keys()].find((name) => !parts.has(name) && archive !== first);
      if (other !== undefined) refuse(`all ranks must hold the same names`, `${other} in some`);
      for (const name of names) {
        const part = readPart(dict.get(name), name, mesh);
        parts.set(name, [...(parts.get(name) ?? []), part]);
      }
    }
    for (const [name, list] of parts) {
      const { cut, tensor } = list[0]!;
      if (list.some((part) => part.cut !== cut))
        refuse(`all ranks must cut ${name} alike`, "not so");
      const shape = cut === undefined ? tensor.shape : joinedShape(name, list, cut);
      tensors.set(name, { shape, type: tensor.storage.type });
    }
    return {
      kind: "verl shards",
      folder,
      tensors,
      type: "bfloat16",
      close,
      async read(name) {
        const list = parts.get(name) ?? refuse(`${folder} must hold ${name}`, "none");
        const { cut } = list[0]!;
        if (cut === undefined) return archives[0]!.read(list[0]!.tensor);
        const values = await Promise.all(
          list.map(({ tensor }, rank) => archives[rank]!.read(tensor)),
        );
        return joinValues(
          values,
          list.map(({ tensor }) => tensor.shape),
          cut,
        );
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
