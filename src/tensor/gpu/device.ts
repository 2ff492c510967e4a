/** What answered when a GPU was asked for. */
export interface FoundGpu {
  name: string;
  /** A renderer on the processor, right or wrong like another and never fast. */
  software: boolean;
}

/** What to call an adapter, and whether it is a real one. */
export function nameOf(adapter: {
  info: Partial<GPUAdapterInfo> & { isFallbackAdapter?: boolean };
}): FoundGpu {
  const { vendor, device, description, architecture, isFallbackAdapter } = adapter.info;
  const name = [vendor, description || device || architecture].filter(Boolean).join(" ");
  const made = /llvmpipe|lavapipe|swiftshader|softpipe|basic render|warp/i;
  return { name: name || "a GPU", software: isFallbackAdapter === true || made.test(name) };
}

const limits = [
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeWorkgroupsPerDimension",
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxComputeWorkgroupSizeX",
  "maxComputeInvocationsPerWorkgroup",
] as const;
const features = ["timestamp-query", "shader-f16", "subgroups"] as const;

/** The first thing each device complained of. */
const faults = new WeakMap<GPUDevice, string>();

/** A device with the adapter's full limits, and the features that are used where they are. */
export async function gpuDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const device = await adapter.requestDevice({
    requiredFeatures: features.filter((name) => adapter.features.has(name)),
    requiredLimits: Object.fromEntries(limits.map((name) => [name, adapter.limits[name]])),
  });
  const complain = (fault: string) => {
    if (!faults.has(device)) faults.set(device, fault);
  };
  device.onuncapturederror = ({ error }) => complain(error.message);
  void device.lost.then(({ reason, message }) => {
    if (reason !== "destroyed") complain(`the device was lost: ${message}`);
  });
  return device;
}

/** Throws where the device complained: what it gives then is no result. */
export function checkDevice(device: GPUDevice): void {
  const fault = faults.get(device);
  if (fault !== undefined) throw new Error(`Cannot compute on the GPU: ${fault.trim()}`);
}

let held: GPUDevice | undefined;

/** Keeps the device of this process at hand, or forgets it. */
export function holdDevice(device: GPUDevice | undefined): void {
  held = device;
}

/** The device of this process, where one was asked for. */
export function heldDevice(): GPUDevice | undefined {
  return held;
}
