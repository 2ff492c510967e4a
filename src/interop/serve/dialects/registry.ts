import { chatCompletions } from "./chat-completions.js";
import type { WireDialect } from "./definition.js";
import { messages } from "./messages.js";
import { responses } from "./responses.js";

/** How programs may ask for chats. The first one's errors are those of every other path. */
const dialects: readonly WireDialect[] = [chatCompletions, responses, messages];

/** The path behind a session's key, if it has one. */
const plainPath = (path: string) => path.replace(/^\/s\/[^/]+(?=\/)/, "");

/** What answers a POST of each path of a dialect. */
export const dialectPosts: WireDialect["posts"] = Object.assign(
  {},
  ...dialects.map(({ posts }) => posts),
) as WireDialect["posts"];

/** The dialect of whoever asks at a path, or at one below it. */
export function dialectOf(path: string): WireDialect {
  const plain = `${plainPath(path)}/`;
  const isAsked = (own: string) => plain.startsWith(`${own}/`);
  return dialects.find(({ posts }) => Object.keys(posts).some(isAsked)) ?? dialects[0]!;
}
