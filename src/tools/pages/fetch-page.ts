import {
  checkOptions,
  integer,
  integerOrAll,
  milliseconds,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { isIP, lookup, networks, whyNoPages } from "#platform/network";
import { AppendStore } from "../search/append-store.js";
import { HttpError, isAxiosError } from "../../base/http/request-json.js";
import { htmlText } from "./html-text.js";

export interface PageOptions {
  /** Characters kept of a page. Default 20,000. */
  pageLength?: number;
  /** Default 20,000. */
  timeoutMs?: number;
  /** Bytes read of a page at most. Default 5 MiB. */
  maxBytes?: number;
  /** A file that keeps pages by address; several processes may share it. */
  cachePath?: string;
  /** Allow addresses of this machine and its networks. Default: no. */
  allowPrivate?: boolean;
}

const rules: OptionRules<PageOptions> = {
  pageLength: integerOrAll(0),
  timeoutMs: milliseconds,
  maxBytes: integer(1),
  cachePath: "path?",
  allowPrivate: "boolean?",
};

const inside = networks(
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3],
  ],
  [
    ["::", 96], // This machine, and the old way to write an IPv4 address.
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8],
    ["64:ff9b::", 96], // These four lead to IPv4 addresses that they carry.
    ["64:ff9b:1::", 48],
    ["2001::", 32],
    ["2002::", 16],
  ],
);

/** Whether an address belongs to this machine or its networks. */
export function isPrivate(address: string): boolean {
  return inside(address); // Knows ::ffff:127.0.0.1, too.
}

function refuse(url: string, why: string): HttpError {
  return new HttpError(`Cannot fetch ${url}: ${why}`, undefined, false);
}

/** Reads web pages as text. */
export class PageFetcher {
  readonly #options: Required<Omit<PageOptions, "cachePath">>;
  readonly #store: AppendStore<{ text: string; at: number }> | undefined;
  readonly #running = new Map<string, Promise<string>>();

  constructor(options: PageOptions = {}) {
    checkOptions("fetch pages", options, rules);
    const { pageLength = 20_000, timeoutMs = 20_000, maxBytes = 5 * 2 ** 20 } = options;
    this.#options = {
      pageLength,
      timeoutMs,
      maxBytes,
      allowPrivate: options.allowPrivate ?? false,
    };
    this.#store = options.cachePath === undefined ? undefined : new AppendStore(options.cachePath);
  }

  /** The text of a page, from the cache if it is there. */
  async fetch(url: string, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const known = this.#store?.get(url);
    if (known) return known.text;
    let running = this.#running.get(url);
    if (!running) {
      running = this.#fetch(url).finally(() => this.#running.delete(url));
      this.#running.set(url, running);
    }
    const text = await running;
    signal?.throwIfAborted();
    return text;
  }

  close(): void {
    this.#store?.close();
  }

  async #fetch(url: string): Promise<string> {
    const { timeoutMs, maxBytes, pageLength } = this.#options;
    if (whyNoPages !== undefined) throw refuse(url, whyNoPages);
    this.#check(url, url);
    try {
      const { default: axios } = await import("axios");
      const response = await axios.get<string>(url, {
        timeout: timeoutMs,
        signal: AbortSignal.timeout(timeoutMs),
        maxContentLength: maxBytes,
        maxRedirects: 5,
        responseType: "text",
        transformResponse: (data: unknown) => data,
        headers: { Accept: "text/html, text/plain;q=0.9", "User-Agent": "arpo-lab" },
        validateStatus: (status) => status === 200,
        proxy: false,
        lookup: async (host: string) => this.#resolve(url, host),
        beforeRedirect: (next: Record<string, unknown>) => {
          this.#check(url, String(next.href));
        },
      });
      const type = String(response.headers["content-type"] ?? "text/html");
      if (!/^(text\/|application\/(xhtml|json))/.test(type)) {
        throw refuse(url, `it must be text, got ${type}`);
      }
      const body = String(response.data);
      const text = (/html/.test(type) ? htmlText(body) : body).slice(0, pageLength);
      this.#store?.set(url, { text, at: Date.now() });
      return text;
    } catch (error) {
      if (error instanceof HttpError) throw error;
      const cause = error instanceof Error ? error.cause : undefined;
      if (cause instanceof HttpError) throw cause;
      const why = isAxiosError(error)
        ? (error.response?.status ?? error.code ?? error.message)
        : String(error);
      throw new HttpError(`Cannot fetch ${url}: it must answer with status 200, got ${why}`);
    }
  }

  /** Web addresses only, and numbers only of the public network. */
  #check(url: string, target: string): void {
    const { protocol, hostname } = new URL(target);
    if (protocol !== "http:" && protocol !== "https:") {
      throw refuse(url, `the address must be http or https, got ${protocol}`);
    }
    const host = hostname.replace(/^\[|\]$/g, "");
    if (!this.#options.allowPrivate && isIP(host) !== 0 && isPrivate(host)) {
      throw refuse(url, `the host must be public, got ${host}`);
    }
  }

  /** Looks a name up and refuses private answers, so that no name can stand for one. */
  async #resolve(url: string, host: string): Promise<[string, 4 | 6]> {
    const { address, family } = await lookup(host);
    if (!this.#options.allowPrivate && isPrivate(address)) {
      throw refuse(url, `the host must be public, got ${address}`);
    }
    return [address, family === 6 ? 6 : 4];
  }
}
