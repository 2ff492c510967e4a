import type { Json } from "../../../common/http-server/body.js";

/** What those who follow a notebook's runs need of it when it was saved: its cells and how often they ran. */
export function outlineOf(notebook: Json): Json {
  const cells = (notebook["cells"] as Json[]).map(({ id, execution_count }) => ({
    id,
    execution_count,
  }));
  return { cells };
}
