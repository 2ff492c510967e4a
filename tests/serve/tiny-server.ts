import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Policy } from "../../src/policy/policies.js";
import { PolicyServer, type ServeOptions } from "../../src/interop/serve/policy-server.js";

export const tinyFolder = fileURLToPath(new URL("../../../data/models/tiny", import.meta.url));

/** The tiny model, served for one test. */
export async function serveTiny(t: Pick<TestContext, "after">, options: ServeOptions = {}) {
  const policy = await Policy.load(tinyFolder, { top: 20 });
  const server = await PolicyServer.start(policy, options);
  t.after(async () => {
    await server.stop();
    policy.dispose();
  });
  return { policy, server };
}
