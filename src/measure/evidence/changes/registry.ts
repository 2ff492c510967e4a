import { blanked } from "./blanked.js";
import { contradicted } from "./contradicted.js";
import type { ChangeDefinition } from "./definition.js";
import { exchanged } from "./exchanged.js";

/** Every way to change a tool result, in the order of tables. */
export const changes = [
  blanked,
  contradicted,
  exchanged,
] as const satisfies readonly ChangeDefinition[];

/** The name of one. */
export type ChangeName = (typeof changes)[number]["name"];

export const changeNames = changes.map(({ name }) => name);
