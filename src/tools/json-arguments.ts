import { isRecord } from "../../common/options/is-record.js";
/** What of a JSON schema is needed to read and describe arguments. */
export interface ArgumentSchema {
  properties?: Record<string, { type?: string | string[]; description?: string }>;
  required?: string[];
}

/** A tool's description with the arguments that it takes. */
export function describeArguments(
  description: string,
  { properties = {}, required = [] }: ArgumentSchema,
): string {
  const names = Object.entries(properties).map(([key, { type, description: about }]) => {
    const optional = required.includes(key) ? "" : ", optional";
    return `${key} (${String(type ?? "any")}${optional})${about ? `: ${about}` : ""}`;
  });
  return names.length > 0 ? `${description} Arguments as JSON: ${names.join("; ")}` : description;
}

/** The arguments the model wrote, or what was wrong with them. */
export function readArguments(
  input: string,
  schema: ArgumentSchema,
): Record<string, unknown> | string {
  const { properties = {}, required = Object.keys(properties) } = schema;
  const text = input.trim();
  try {
    const value = JSON.parse(text === "" ? "{}" : text) as unknown;
    if (isRecord(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Not JSON: taken as the one text argument below, if there is one.
  }
  const [only, ...others] = required.length > 0 ? required : Object.keys(properties);
  if (only !== undefined && others.length === 0) {
    const { type } = properties[only] ?? {};
    return { [only]: type === "number" || type === "integer" ? Number(text) : text };
  }
  return `Error: the arguments must be a JSON object with ${Object.keys(properties).join(", ")}`;
}
