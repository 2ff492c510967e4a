export interface OpenEnvOptions {
  /** What the model may call: a description by tag. Default: an MCP environment's tools, or one tool `act`. */
  tools?: Readonly<Record<string, string>>;
  /** The action that a call becomes. Default: a call of the tool, or the action's fields from JSON or text. */
  action?: (tag: string, input: string) => object;
  /** What of a task goes into the reset beside the seed. Default: its field `reset`, if that is an object. */
  reset?: (task: unknown) => object;
  /**
   * What the model reads. Default: a tool's text, message, text, stdout and stderr, new messages, else
   * JSON.
   */
  observe?: (observation: Record<string, unknown>, before?: Record<string, unknown>) => string;
  /** Sessions held at once. Default: as many as the server has. */
  sessions?: number;
  /** How long a trajectory waits for a session, which is not counted as a call's time. Default 300,000. */
  waitMs?: number;
  /**
   * `replay`: a branch takes its trajectory's calls again. `none`: trajectories do not branch. Default:
   * replay, while answers agree.
   */
  branch?: "replay" | "none";
  /** What it is called in errors and trees. Default: the server's address. */
  name?: string;
  /**
   * Name of the environment variable that holds a token, sent as `Authorization: Bearer`. Default:
   * no token is sent.
   */
  tokenEnv?: string;
  /** For one answer. Default 30,000. */
  timeoutMs?: number;
  /** Bytes an answer may have. Default 1 MiB. */
  maxBytes?: number;
}
