import { HttpError, requestJson } from "../../base/http/request-json.js";
import { type Check, findings } from "../check.js";

const { ok, error: wrong } = findings("endpoints");

/** An address something will be asked at. */
export interface EndpointToCheck {
  url: string;
  /** What it is for. */
  use: string;
  /** Name of the environment variable with its key. */
  apiKeyEnv?: string;
  /** Whether it is OpenAI-compatible and can be asked for its models. */
  openai: boolean;
}

/** Whether an endpoint answers; any answer of a server that is no OpenAI's counts. */
export async function endpointCheck(
  { url, use, apiKeyEnv, openai }: EndpointToCheck,
  timeoutMs = 5000,
): Promise<Check> {
  const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
  let shown = url;
  try {
    const { protocol, host, pathname } = new URL(url);
    shown = `${protocol}//${host}${pathname}`;
    const answer = (await requestJson("reach", {
      url: openai ? `${url.replace(/\/$/, "")}/models` : url,
      headers: key ? { Authorization: `Bearer ${key}` } : {},
      timeoutMs,
    })) as { data?: { id?: string }[] } | null;
    const models = answer?.data?.map(({ id }) => id).join(", ");
    return ok("endpoint", `${use}: ${shown} answers${models ? `, with ${models}` : ""}`);
  } catch (error) {
    const { status, fault } = error instanceof HttpError ? error : {};
    if (!openai && (status !== undefined || fault === "content")) {
      return ok("endpoint", `${use}: ${shown} is reachable`);
    }
    const found = `${use}: ${(error as Error).message.replace(/^Cannot reach: /, "")}`;
    const fix =
      status === 401 || status === 403
        ? "its key is missing or wrong"
        : "start it, or fix the address";
    return wrong("endpoint", found, fix);
  }
}
