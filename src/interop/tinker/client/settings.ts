import { environment } from "#platform/process";
import { note } from "#platform/note";
import { shown } from "../../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  milliseconds,
  millisecondsOrNone,
  type OptionRules,
} from "../../../../common/options/check-options.js";

/** How a Tinker server is asked. */
export interface TinkerConnection {
  /**
   * Name of the environment variable that holds the key. It is the only place a key is read from, and no
   * message or file shows it.
   *
   * @default "TINKER_API_KEY", where it is set
   */
  apiKeyEnv?: string;
  /**
   * Attempts per request, the first included. What changes something at the server is attempted again
   * only where the first attempt surely did nothing.
   *
   * @default 8
   */
  attempts?: number;
  /**
   * The first wait before another attempt; it doubles, and a random part of it is waited.
   *
   * @default 250
   */
  backoffMs?: number;
  /**
   * Milliseconds for one request.
   *
   * @default 60_000
   */
  timeoutMs?: number;
  /**
   * Milliseconds that a piece of work may take at the server, waiting in its queue included.
   *
   * @default 3_600_000
   */
  workMs?: number;
  /**
   * Milliseconds between heartbeats, without which a server ends the session.
   *
   * @default 10_000
   */
  heartbeatMs?: number;
  /**
   * Samples under way at the same time. Halved when the server says it is busy, won back one by one.
   *
   * @default 64
   */
  concurrency?: number;
  /**
   * Takes a line where something takes long or was repeated.
   *
   * @default standard error
   */
  note?: (line: string) => void;
}

export const connectionRules: OptionRules<TinkerConnection> = {
  apiKeyEnv: "text?",
  attempts: integer(1),
  backoffMs: millisecondsOrNone,
  timeoutMs: milliseconds,
  workMs: milliseconds,
  heartbeatMs: milliseconds,
  concurrency: integer(1),
  note: "function?",
};

export type TinkerSettings = Required<Omit<TinkerConnection, "apiKeyEnv">> & {
  /** Up to the path that `/api/v1` follows, without a slash at its end. */
  url: string;
  headers: Readonly<Record<string, string>>;
};

const refuse = (name: string, must: string, got: unknown): never => {
  throw new RangeError(`Cannot use a Tinker server: ${name} must be ${must}, got ${shown(got)}`);
};

/** Whether an address is this machine's own. */
const loopback = (host: string) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(host);

function baseUrl(url: unknown): URL {
  const given = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (!given || !["http:", "https:"].includes(given.protocol)) {
    return refuse("url", "an http or https address", url);
  }
  if (given.search !== "" || given.username !== "" || given.password !== "") {
    return refuse("url", "an address without a query or a password", shownBase(given));
  }
  return given;
}

const shownBase = ({ protocol, host, pathname }: URL) => `${protocol}//${host}${pathname}`;

/** Completes what was given; the one place that reads a key. */
export function tinkerSettings(url: string, options: TinkerConnection): TinkerSettings {
  const base = baseUrl(url);
  checkOptions("use a Tinker server", options, connectionRules);
  const { apiKeyEnv } = options;
  const key = environment[apiKeyEnv ?? "TINKER_API_KEY"] ?? "";
  if (apiKeyEnv !== undefined && key === "") {
    throw new RangeError(
      `Cannot use a Tinker server: the environment variable ${apiKeyEnv} must hold a key, got none`,
    );
  }
  if (key !== "" && base.protocol === "http:" && !loopback(base.hostname)) {
    refuse("url", "https where a key is sent", shownBase(base));
  }
  return {
    url: shownBase(base)
      .replace(/\/+$/, "")
      .replace(/\/api\/v1$/, ""),
    headers: key === "" ? {} : { "X-API-Key": key },
    attempts: options.attempts ?? 8,
    backoffMs: options.backoffMs ?? 250,
    timeoutMs: options.timeoutMs ?? 60_000,
    workMs: options.workMs ?? 3_600_000,
    heartbeatMs: options.heartbeatMs ?? 10_000,
    concurrency: options.concurrency ?? 64,
    note: options.note ?? note,
  };
}
