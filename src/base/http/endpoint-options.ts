import {
  checkOptions,
  integer,
  milliseconds,
  millisecondsOrNone,
  type OptionRule,
  type OptionRules,
  required,
} from "../../../common/options/check-options.js";
import { shown } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import { note as say } from "#platform/note";

/** How endpoints are asked. */
export interface EndpointOptions {
  /** Base addresses, each up to and including `/v1`. */
  urls: readonly string[];
  /** Name of the environment variable that holds the key. @default no key is sent */
  apiKeyEnv?: string;
  /** Requests at the same time, per endpoint. @default 32 */
  concurrency?: number;
  /** Attempts per request, the first included. @default 6 */
  attempts?: number;
  /** The first wait before another attempt; it doubles, and a random part of it is waited. @default 250 */
  backoffMs?: number;
  /** Milliseconds for one attempt, its whole answer included. @default 600_000 */
  timeoutMs?: number;
  /**
   * The longest wait an endpoint may ask for (`Retry-After`). One that asks for more is not asked again
   * before; where no other is left, the request fails and says so.
   * @default 120_000
   */
  longestWaitMs?: number;
  /** Of several endpoints none can be reached: how long requests wait for one before they fail. @default 30_000 */
  outageMs?: number;
  /**
   * Where an endpoint says how it is, from its address on; any answer but a 5xx says well. Asked of
   * several endpoints only.
   * @default "../health"
   */
  healthPath?: string;
  /** Bytes an answer may have. @default 256 * 2 ** 20 */
  maxBytes?: number;
  /** Completes "Cannot ..." in errors. @default "ask the remote policy" */
  doing?: string;
  /** Told of every attempt that failed, those that are repeated too. Default: none. */
  onFault?: (error: unknown) => void;
  /** Takes a line when an endpoint asks for a wait of more than ten seconds. @default standard error */
  note?: (line: string) => void;
}

/** Options with nothing left open. */
export type EndpointSettings = Required<Omit<EndpointOptions, "apiKeyEnv" | "onFault">> &
  Pick<EndpointOptions, "apiKeyEnv" | "onFault">;

const isWeb = (url: unknown): boolean =>
  typeof url === "string" &&
  URL.canParse(url) &&
  ["http:", "https:"].includes(new URL(url).protocol);

/** Keys may stand in the query of an address, which is not shown. */
const bare = (url: unknown) => shown(typeof url === "string" ? url.split("?")[0] : url);

export const webAddress: OptionRule = { must: "an http or https address", holds: isWeb, got: bare };

export const webAddresses: OptionRule = {
  must: "a list of one or more http or https addresses",
  holds: (urls) => Array.isArray(urls) && urls.length > 0 && urls.every(isWeb),
  got: (urls) =>
    bare(Array.isArray(urls) && urls.length > 0 ? urls.find((url) => !isWeb(url)) : urls),
};

const positiveInteger = { ...integer(1), must: "a positive integer" };

export const endpointRules: OptionRules<EndpointOptions> = {
  urls: required(webAddresses),
  apiKeyEnv: {
    must: "the name of an environment variable",
    holds: (name) => typeof name === "string" && name !== "",
  },
  concurrency: positiveInteger,
  attempts: positiveInteger,
  backoffMs: millisecondsOrNone,
  timeoutMs: milliseconds,
  longestWaitMs: millisecondsOrNone,
  outageMs: millisecondsOrNone,
  healthPath: "path?",
  maxBytes: positiveInteger,
  doing: { must: "text", holds: (doing) => typeof doing === "string" && doing !== "" },
  onFault: "function?",
  note: "function?",
};

const defaults = {
  ...{ concurrency: 32, attempts: 6, backoffMs: 250, timeoutMs: 600_000 },
  ...{ longestWaitMs: 120_000, outageMs: 30_000 },
  ...{ healthPath: "../health", maxBytes: 256 * 2 ** 20, doing: "ask the remote policy" },
};

/** Completes options with the defaults. Throws a RangeError or TypeError that names what makes no sense. */
export function endpointSettings(options: EndpointOptions): EndpointSettings {
  const { doing } = Object(options) as Partial<EndpointOptions>;
  const isText = typeof doing === "string" && doing !== "";
  checkOptions(isText ? doing : "use endpoints", options, endpointRules);
  const { apiKeyEnv, onFault } = options;
  return { ...defaults, note: say, ...defined(options), apiKeyEnv, onFault };
}
