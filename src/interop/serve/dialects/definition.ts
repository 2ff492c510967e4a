import type { Handling } from "../handler.js";
import type { ApiError } from "../http/api-error.js";

/** One way in which programs ask for chats: its paths, and how its clients are told of errors. */
export interface WireDialect {
  name: string;
  /** What answers a POST of a path. A value that is returned is sent as JSON. */
  posts: Readonly<
    Record<string, (handling: Handling, body: Record<string, unknown>) => Promise<unknown>>
  >;
  /** The body of a refusal. */
  refused: (error: ApiError) => object;
  /** The last event of a stream that an error ends. */
  broken: (error: ApiError) => { event?: string; data: object };
}
