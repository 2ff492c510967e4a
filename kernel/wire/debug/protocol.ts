import type { Debugger, Runtime } from "node:inspector";

// The part of the Debug Adapter Protocol that is spoken, and what Jupyter adds to it.

export type Json = Record<string, unknown>;

export interface SourceBreakpoint {
  line: number;
  column?: number;
  condition?: string;
  hitCondition?: string;
  logMessage?: string;
}

interface Source {
  name?: string;
  path?: string;
  presentationHint?: "normal" | "emphasize" | "deemphasize";
}

export interface Breakpoint {
  id: number;
  verified: boolean;
  line: number;
  source: Source;
  message?: string;
}

export interface StackFrame {
  id: number;
  name: string;
  source?: Source;
  line: number;
  column: number;
  presentationHint?: "normal" | "label" | "subtle";
}

export interface Variable {
  name: string;
  value: string;
  type?: string;
  variablesReference: number;
  evaluateName?: string;
  namedVariables?: number;
  indexedVariables?: number;
  presentationHint?: Json;
  /** Ours: where the list of a session's values puts it. */
  group?: string;
}

export type Paused = Debugger.PausedEventDataType;
export type CallFrame = Debugger.CallFrame;
export type RemoteObject = Runtime.RemoteObject;

/** A request that cannot be answered: its message is the answer. */
export class Refusal extends Error {
  override name = "Refusal";
}

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
