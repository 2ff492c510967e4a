// What a stage cell uses when the session has not made its own: the tiny model that ships, and the
// tools of the task generators. Imported only when needed, because loading them takes a moment.
import { fileURLToPath } from "node:url";
import { world } from "../data/index.js";
import { taskTools } from "../run/tiny/task-tools.js";
import { Policy } from "../policy/index.js";

/** Where the tiny model is. */
export const tinyModel: string = fileURLToPath(
  new URL("../../../data/models/tiny", import.meta.url),
);

/** The tiny model, loaded anew in every session. */
export const policy: Awaited<ReturnType<typeof Policy.load>> = await Policy.load(tinyModel);

/** Python in its sandbox, and search over the invented world. */
export const tools: ReturnType<typeof taskTools> = taskTools(world);
