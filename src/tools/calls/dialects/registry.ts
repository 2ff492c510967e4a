import type { OptionRule } from "../../../../common/options/check-options.js";
import { Registry } from "../../../../common/options/registry.js";
import type { CallDialect } from "./definition.js";
import { hermes } from "./hermes.js";
import { json } from "./json.js";
import { tags } from "./tags.js";
import { xml } from "./xml.js";

const built = [tags, hermes, json, xml] as const;

/** The name of a dialect that comes with the library. */
export type CallDialectName = (typeof built)[number]["name"];

/** How models write calls. */
export const callDialects = new Registry<CallDialect, CallDialectName>("call dialect", built, [
  "read",
]);

/** Those that chat templates show, with whose models write them: `` `hermes` (Qwen), … ``. */
export const dialectWords = (): string =>
  callDialects.all
    .flatMap(({ name, words, shownIn }) => (shownIn ? [`\`${name}\` (${words})`] : []))
    .join(", ");

/** The dialect that a template shows, by what a chat with functions looks like; the newest is asked first. */
export const dialectShown = (rendered: string): CallDialect | undefined =>
  [...callDialects.all].reverse().find((dialect) => dialect.shownIn?.(rendered));

/** What an option may be that takes a dialect, or leaves it to the chat template. */
export const callsRule: OptionRule = {
  get must() {
    return `one of auto, ${callDialects.names.join(", ")} or an object`;
  },
  get names() {
    return ["auto", ...callDialects.names];
  },
  holds: (value) =>
    value === "auto" || callDialects.has(value) || (typeof value === "object" && value !== null),
};
