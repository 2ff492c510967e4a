import type { Config } from "../../run/config/schema.js";
import type { EndpointToCheck } from "../machine/endpoints.js";
import { isRecord } from "../../../common/options/is-record.js";

type Params = Record<string, unknown>;

/** Addresses and keys that a configuration's tools need. */
export function outsideOf(config: Config): { endpoints: EndpointToCheck[]; keys: string[] } {
  const endpoints: EndpointToCheck[] = [];
  const keys = new Set<string>();
  const { tools, mode } = config.actor_rollout_ref.rollout;
  if (mode === "sync") return { endpoints, keys: [] };
  const look = (params: Params, use: string, openai: boolean) => {
    const key = params["api_key_env"] ?? params["apiKeyEnv"];
    const apiKeyEnv = typeof key === "string" ? key : undefined;
    if (apiKeyEnv !== undefined) keys.add(apiKeyEnv);
    const urls = [params["url"], params["urls"]].flat().filter((url) => typeof url === "string");
    for (const url of urls) endpoints.push({ url, use, openai, apiKeyEnv });
    for (const [name, inner] of Object.entries(params)) {
      if (isRecord(inner)) look(inner, `${use} (${name})`, name === "summarizer");
    }
  };
  for (const [tag, { class_path: path, params }] of Object.entries(tools.tool_instances)) {
    look(params, `tool <${tag}>`, false);
    const bright = /bright-data|BingSearchTool/.test(path) || params["provider"] === "bright-data";
    if (bright && typeof params["api_key"] !== "string") keys.add("BRIGHT_DATA_API_KEY");
  }
  return { endpoints, keys: [...keys] };
}
