import type { z } from "#zod";
import type { LabLine } from "./lab-line.js";

/** What a tool works with. */
export interface ToolContext {
  lab: LabLine;
  /** The run of this program: what a person allows for a session is for this one. */
  session: string;
  /** What the program at the other end calls itself. */
  agent: string;
}

/** What a tool answers with. */
export interface ToolAnswer {
  /** In our words. */
  note?: string;
  /** Of notebooks, files, models and tools: it is marked as data. */
  data?: unknown;
  /** Nothing was done. */
  failed?: boolean;
}

/** A tool of `arpo-lab mcp`. */
export interface ToolDefinition<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string;
  description: string;
  input: Shape;
  /** Whether it does more than read; the lab then asks the person. */
  acts?: { destructive: boolean };
  run(input: z.infer<z.ZodObject<Shape>>, context: ToolContext): Promise<ToolAnswer>;
}

/** Keeps the types of a tool's input. */
export const defineTool = <Shape extends z.ZodRawShape>(
  definition: ToolDefinition<Shape>,
): ToolDefinition => definition as unknown as ToolDefinition;
