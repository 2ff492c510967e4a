import type { Binding, ComputePass, Device } from "./handles.js";

/** What a dispatch is given besides buffers: whole numbers, then fractions, as its shader declares them. */
interface Numbers {
  whole: readonly number[];
  fractions?: readonly number[];
}

/** A shader by a name that stands for its text; the text is made when no pipeline has that name yet. */
export interface Program {
  key: string;
  code: () => string;
}

/** One dispatch, ready to be recorded. */
export interface Dispatch {
  program: Program;
  /** In the order of their bindings; the numbers come last. */
  buffers: readonly Binding[];
  numbers: Numbers;
  /** How many workgroups; what is above the device's limit along x goes on along y. */
  groups: readonly [number, number?, number?];
}

/** Every pipeline of a device, which all that run on it share: making one takes longer than running it. */
const pipelinesOf = new WeakMap<GPUDevice, Map<string, GPUComputePipeline>>();

function pipelines(device: GPUDevice): Map<string, GPUComputePipeline> {
  let made = pipelinesOf.get(device);
  if (!made) pipelinesOf.set(device, (made = new Map()));
  return made;
}

/** A bind group, and what it binds. */
interface Bound {
  pipeline: GPUComputePipeline;
  resources: readonly Binding[];
  group: GPUBindGroup;
}

function isBound(bound: Bound, pipeline: GPUComputePipeline, resources: readonly Binding[]) {
  return (
    bound.pipeline === pipeline &&
    bound.resources.every(({ buffer, offset = 0, size }, i) => {
      const other = resources[i]!;
      return other.buffer === buffer && (other.offset ?? 0) === offset && other.size === size;
    })
  );
}

const SLOT = 256;
const CHUNK = 1 << 16;

/**
 * Shaders and their numbers on one device. The numbers of all dispatches of one submit lie in one
 * buffer and are written at once, before it (`flush`).
 */
export class Programs {
  readonly device: Device;
  readonly #pipelines: Map<string, GPUComputePipeline>;
  readonly #chunks: { buffer: GPUBuffer; bytes: ArrayBuffer }[] = [];
  /** The bindings that the last dispatch at each place of a submit had: the next step's are mostly the same. */
  readonly #bound: Bound[] = [];
  #used = 0;
  /** Dispatches recorded so far. */
  dispatches = 0;

  constructor(device: Device) {
    this.device = device;
    this.#pipelines = pipelines(device);
  }

  /** Records a dispatch into a pass. */
  record(pass: ComputePass, { program, buffers, numbers, groups }: Dispatch): void {
    const pipeline = this.#pipeline(program);
    const place = this.#used / SLOT;
    const resources = [...buffers, this.#place(numbers)];
    let bound = this.#bound[place];
    if (!bound || !isBound(bound, pipeline, resources)) {
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      const layout = pipeline.getBindGroupLayout(0);
      bound = { pipeline, resources, group: this.device.createBindGroup({ layout, entries }) };
      this.#bound[place] = bound;
    }
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bound.group);
    const [x, y = 1, z = 1] = groups;
    const most = this.device.limits.maxComputeWorkgroupsPerDimension;
    if (x <= most) pass.dispatchWorkgroups(x, y, z);
    else if (y === 1) {
      const rows = Math.ceil(x / most);
      pass.dispatchWorkgroups(Math.ceil(x / rows), rows, z);
    } else throw new RangeError(`Cannot run ${program.key}: it must take ${most} groups, got ${x}`);
    this.dispatches++;
  }

  /** Writes what the recorded dispatches need; to be called right before they are submitted. */
  flush(): void {
    for (let i = 0; i * CHUNK < this.#used; i++) {
      const { buffer, bytes } = this.#chunks[i]!;
      const size = Math.min(CHUNK, this.#used - i * CHUNK);
      this.device.queue.writeBuffer(buffer, 0, bytes, 0, size);
    }
    this.#used = 0;
  }

  dispose(): void {
    for (const { buffer } of this.#chunks) buffer.destroy();
    this.#chunks.length = this.#bound.length = 0;
  }

  #pipeline({ key, code }: Program): GPUComputePipeline {
    let pipeline = this.#pipelines.get(key);
    if (!pipeline) {
      const module = this.device.createShaderModule({ label: key, code: code() });
      pipeline = this.device.createComputePipeline({
        label: key,
        layout: "auto",
        compute: { module, entryPoint: "main" },
      });
      this.#pipelines.set(key, pipeline);
    }
    return pipeline;
  }

  #place({ whole, fractions = [] }: Numbers): GPUBufferBinding {
    const size = 4 * (whole.length + fractions.length);
    if (size > SLOT)
      throw new RangeError(`Cannot run: numbers must fit ${SLOT} bytes, got ${size}`);
    const index = Math.floor(this.#used / CHUNK);
    const offset = this.#used % CHUNK;
    this.#chunks[index] ??= {
      buffer: this.device.createBuffer({
        size: CHUNK,
        usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
      }),
      bytes: new ArrayBuffer(CHUNK),
    };
    const { buffer, bytes } = this.#chunks[index];
    new Uint32Array(bytes, offset, whole.length).set(whole);
    new Float32Array(bytes, offset + 4 * whole.length, fractions.length).set(fractions);
    this.#used += SLOT;
    return { buffer, offset, size: SLOT };
  }
}
