import { type Json, type Paused, Refusal } from "./protocol.js";

/** Whether V8 has stopped at an error. */
export const isError = (reason: string): boolean =>
  ["exception", "promiseRejection"].includes(reason);

/** What is known of the error that was stopped at. */
export function errorInfo({ reason, data }: Paused): Json {
  if (!isError(reason)) throw new Refusal("Cannot tell of an error: none was stopped at");
  const { className, description, value, uncaught } = (data ?? {}) as Record<string, unknown>;
  const [text = ""] = String(description ?? value).split("\n    at ");
  return {
    exceptionId: String(className ?? typeof value),
    description: text,
    breakMode: uncaught === true ? "unhandled" : "always",
    details: { message: text, typeName: className, stackTrace: description },
  };
}
