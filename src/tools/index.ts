export { evaluate } from "./arithmetic.js";
export { calculator } from "./calculator.js";
export { Fraction } from "./fraction.js";
export { Gate } from "./gate.js";
export { ToolMetrics } from "./tool-metrics.js";
export { ToolSet, type ToolFailure, type ToolLimits, type ToolOutcome } from "./tool-set.js";
export type { Tool, ToolCall, ToolResult } from "./tool.js";
