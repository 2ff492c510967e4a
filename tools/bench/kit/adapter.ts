// One process of the card kit: prints which GPU answers with the Vulkan drivers of its environment, or why none does.
import { nameOf } from "../../../src/tensor/gpu/device.js";
import { webgpuDevice } from "../../../src/tensor/optional/webgpu.js";

async function found(): Promise<object> {
  try {
    const { adapterInfo, features } = await webgpuDevice();
    return { ...nameOf({ info: adapterInfo }), features: [...features].sort() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}
const answer = JSON.stringify(await found());
process.stdout.write(answer, () => process.exit(0));
