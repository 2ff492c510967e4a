import { z } from "#zod";

// The kinds of value a key can have.

export const flag = (by: boolean) => z.boolean().default(by);
export const text = (by: string) => z.string().default(by);
export const optionalText = z.string().nullable().default(null);
export const path = (by: string) => z.string().min(1).default(by);
export const number = (by: number) => z.number().default(by);
export const whole = (by: number) => z.number().int().default(by);
/** 0 or more. */
export const weight = (by: number) => z.number().min(0).default(by);
export const positive = (by: number) => z.number().positive().default(by);
export const share = (by: number) => z.number().min(0).max(1).default(by);
/** More of anything than a run can have: beyond it a number is a slip. */
const most = 1_000_000;
export const atLeast = (least: number, by: number, atMost = most) =>
  z.number().int().min(least).max(atMost).default(by);
export const optionalCount = z.number().int().positive().max(1e9).nullable().default(null);
export const oneOf = <const T extends readonly [string, ...string[]]>(names: T, by: T[number]) =>
  z.enum(names).default(by as never);
export const files = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
/** Free-form: any keys, kept as they are. */
export const free = z.record(z.string(), z.unknown()).default({});

/** A section: unknown keys are errors, absent keys take their defaults. */
export const section = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape).prefault({} as never);
