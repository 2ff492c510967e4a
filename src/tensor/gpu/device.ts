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

/** A device with the adapter's full limits, and the features that are used where they are. */
export function gpuDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  return adapter.requestDevice({
    requiredFeatures: features.filter((name) => adapter.features.has(name)),
    requiredLimits: Object.fromEntries(limits.map((name) => [name, adapter.limits[name]])),
  });
}
