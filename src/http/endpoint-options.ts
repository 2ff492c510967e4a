import { note as say } from "#platform/note";

/** How endpoints are asked. */
export interface EndpointOptions {
  /** Base addresses, each up to and including `/v1`. */
  urls: readonly string[];
  /**
   * Name of the environment variable that holds the key.
   *
   * @default no key is sent
   */
  apiKeyEnv?: string;
  /**
   * Requests at the same time, per endpoint.
   *
   * @default 32
   */
  concurrency?: number;
  /**
   * Attempts per request, the first included.
   *
   * @default 6
   */
  attempts?: number;
  /**
   * The first wait before another attempt; it doubles, and a random part of it is waited.
   *
   * @default 250
   */
  backoffMs?: number;
  /**
   * Milliseconds for one attempt, its whole answer included.
   *
   * @default 600_000
   */
  timeoutMs?: number;
  /**
   * The longest wait an endpoint may ask for (`Retry-After`). One that asks for more is not asked again
   * before; where no other is left, the request fails and says so.
   *
   * @default 120_000
   */
  longestWaitMs?: number;
  /**
   * Of several endpoints none can be reached: how long requests wait for one before they fail.
   *
   * @default 30_000
   */
  outageMs?: number;
  /**
   * Where an endpoint says how it is, from its address on; any answer but a 5xx says well. Asked of
   * several endpoints only.
   *
   * @default "../health"
   */
  healthPath?: string;
  /**
   * Bytes an answer may have.
   *
   * @default 256 * 2 ** 20
   */
  maxBytes?: number;
  /**
   * Completes "Cannot ..." in errors.
   *
   * @default "ask the remote policy"
   */
  doing?: string;
  /** Told of every attempt that failed, those that are repeated too. */
  onFault?: (error: unknown) => void;
  /**
   * Takes a line when an endpoint asks for a wait of more than ten seconds.
   *
   * @default standard error
   */
  note?: (line: string) => void;
}

/** Options with nothing left open. */
export type EndpointSettings = Required<Omit<EndpointOptions, "apiKeyEnv" | "onFault">> &
  Pick<EndpointOptions, "apiKeyEnv" | "onFault">;

/** Completes options with the defaults. Throws a RangeError or TypeError that names what makes no sense. */
export function endpointSettings(options: EndpointOptions): EndpointSettings {
  const settings: EndpointSettings = {
    urls: options.urls,
    apiKeyEnv: options.apiKeyEnv,
    concurrency: options.concurrency ?? 32,
    attempts: options.attempts ?? 6,
    backoffMs: options.backoffMs ?? 250,
    timeoutMs: options.timeoutMs ?? 600_000,
    longestWaitMs: options.longestWaitMs ?? 120_000,
    outageMs: options.outageMs ?? 30_000,
    healthPath: options.healthPath ?? "../health",
    maxBytes: options.maxBytes ?? 256 * 2 ** 20,
    doing: options.doing ?? "ask the remote policy",
    onFault: options.onFault,
    note: options.note ?? say,
  };
  const { doing } = settings;
  const rule = (ok: boolean, name: string, text: string, got: unknown): void => {
    if (ok) return;
    throw new RangeError(`Cannot ${doing}: ${name} must be ${text}, got ${shown(got)}`);
  };
  if (typeof doing !== "string" || doing === "") {
    throw new TypeError(`Cannot use endpoints: doing must be text, got ${shown(doing)}`);
  }
  const { urls, apiKeyEnv, onFault, note, healthPath } = settings;
  rule(typeof healthPath === "string" && healthPath !== "", "healthPath", "a path", healthPath);
  rule(Array.isArray(urls), "urls", "a list of addresses", urls);
  rule(urls.length > 0, "urls", "at least one address", "none");
  for (const url of urls) rule(isWeb(url), "urls", "http or https addresses", url);
  rule(
    apiKeyEnv === undefined || (typeof apiKeyEnv === "string" && apiKeyEnv !== ""),
    "apiKeyEnv",
    "the name of an environment variable",
    apiKeyEnv,
  );
  for (const name of ["concurrency", "attempts", "maxBytes"] as const) {
    const value = settings[name];
    rule(Number.isSafeInteger(value) && value >= 1, name, "a positive integer", value);
  }
  for (const name of ["backoffMs", "timeoutMs", "longestWaitMs", "outageMs"] as const) {
    const value = settings[name];
    // Timers count in 31 bits: a longer one would fire at once.
    const ok = typeof value === "number" && value < 2 ** 31 && value >= 0;
    rule(ok && (value > 0 || name !== "timeoutMs"), name, "milliseconds below 2^31", value);
  }
  for (const [name, value] of Object.entries({ onFault, note })) {
    rule(value === undefined || typeof value === "function", name, "a function", value);
  }
  return settings;
}

function isWeb(url: unknown): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  return ["http:", "https:"].includes(new URL(url).protocol);
}

/** A wrong value in few letters; of an address not its query, where keys may stand. */
function shown(value: unknown): string {
  if (typeof value === "string") return value.split("?")[0]!.slice(0, 80) || '""';
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "function" ? "a function" : String(value);
}
