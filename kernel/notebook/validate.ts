import { deepest, isTooDeep } from "../../common/http-server/nesting.js";
import type { Notebook } from "./notebook.js";
import { isRecord } from "../../common/options/is-record.js";

type Record_ = Record<string, unknown>;

/**
 * Why a value is not a notebook: the place and the rule.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { NotebookError, parseNotebook } from "arpo-lab/kernel";
 *
 * assert.throws(() => parseNotebook('{ "cells": 3 }'), NotebookError);
 * ```
 */
export class NotebookError extends SyntaxError {
  override name = "NotebookError";
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function fail(path: string, rule: string, value: unknown): never {
  throw new NotebookError(`Cannot read notebook: ${path} must be ${rule}, got ${describe(value)}`);
}

function object(value: unknown, path: string): Record_ {
  return isRecord(value) ? value : fail(path, "an object", value);
}

function list(value: unknown, path: string): unknown[] {
  return Array.isArray(value) ? value : fail(path, "a list", value);
}

function text(value: unknown, path: string): void {
  if (typeof value !== "string") fail(path, "text", value);
}

function multiline(value: unknown, path: string): void {
  if (typeof value === "string") return;
  if (!Array.isArray(value) || !value.every((line) => typeof line === "string")) {
    fail(path, "text or a list of lines", value);
  }
}

function count(value: unknown, path: string): void {
  if (value !== null && !(Number.isInteger(value) && (value as number) >= 0)) {
    fail(path, "null or a whole number", value);
  }
}

const jsonMime = /^application\/(?:json|.*\+json)$/;

function bundle(value: unknown, path: string): void {
  for (const [mime, content] of Object.entries(object(value, path))) {
    if (!jsonMime.test(mime)) multiline(content, `${path}["${mime}"]`);
  }
}

function output(value: unknown, path: string): void {
  const out = object(value, path);
  switch (out["output_type"]) {
    case "stream":
      text(out["name"], `${path}.name`);
      multiline(out["text"], `${path}.text`);
      return;
    case "execute_result":
      count(out["execution_count"], `${path}.execution_count`);
      bundle(out["data"], `${path}.data`);
      object(out["metadata"], `${path}.metadata`);
      return;
    case "display_data":
      bundle(out["data"], `${path}.data`);
      object(out["metadata"], `${path}.metadata`);
      return;
    case "error":
      text(out["ename"], `${path}.ename`);
      text(out["evalue"], `${path}.evalue`);
      list(out["traceback"], `${path}.traceback`).forEach((line, i) =>
        text(line, `${path}.traceback[${i}]`),
      );
      return;
    default:
      fail(
        `${path}.output_type`,
        "stream, display_data, execute_result or error",
        out["output_type"],
      );
  }
}

function tags(metadata: Record_, path: string): void {
  if (metadata["tags"] === undefined) return;
  const all = list(metadata["tags"], `${path}.tags`);
  all.forEach((tag, i) => {
    if (typeof tag !== "string" || tag.includes(","))
      fail(`${path}.tags[${i}]`, "text without commas", tag);
  });
  if (new Set(all).size < all.length) fail(`${path}.tags`, "different from each other", all);
}

function cell(value: unknown, path: string, minor: number): void {
  const c = object(value, path);
  const type = c["cell_type"];
  if (type !== "code" && type !== "markdown" && type !== "raw") {
    fail(`${path}.cell_type`, "code, markdown or raw", type);
  }
  multiline(c["source"], `${path}.source`);
  tags(object(c["metadata"], `${path}.metadata`), `${path}.metadata`);
  if (minor >= 5 && !(typeof c["id"] === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(c["id"]))) {
    fail(`${path}.id`, "1 to 64 letters, digits, - or _", c["id"]);
  }
  if (type === "code") {
    count(c["execution_count"], `${path}.execution_count`);
    list(c["outputs"], `${path}.outputs`).forEach((o, i) => output(o, `${path}.outputs[${i}]`));
  } else {
    for (const field of ["outputs", "execution_count"]) {
      if (c[field] !== undefined) fail(`${path}.${field}`, `absent in a ${type} cell`, c[field]);
    }
  }
  if (c["attachments"] !== undefined) {
    for (const [name, item] of Object.entries(object(c["attachments"], `${path}.attachments`))) {
      bundle(item, `${path}.attachments["${name}"]`);
    }
  }
}

/**
 * Checks that a value is a notebook of format 4; throws a `NotebookError` that names the place and
 * the rule.
 */
export function validateNotebook(value: unknown): asserts value is Notebook {
  if (isTooDeep(value)) {
    const rule = `at most ${deepest} lists and objects within each other`;
    throw new NotebookError(`Cannot read notebook: the file may have ${rule}, got more`);
  }
  const nb = object(value, "the file");
  if (nb["nbformat"] !== 4) {
    const rule = "4 or 3 (older: jupyter nbconvert --to notebook --inplace FILE)";
    fail("nbformat", rule, nb["nbformat"]);
  }
  const minor = nb["nbformat_minor"];
  if (!Number.isInteger(minor) || (minor as number) < 0)
    fail("nbformat_minor", "a whole number", minor);
  object(nb["metadata"], "metadata");
  const cells = list(nb["cells"], "cells");
  cells.forEach((c, i) => cell(c, `cells[${i}]`, minor as number));
  if ((minor as number) >= 5) {
    const ids = new Map<unknown, number>();
    cells.forEach((c, i) => {
      const { id } = c as { id: unknown };
      const first = ids.get(id);
      if (first !== undefined) fail(`cells[${i}].id`, `different from that of cells[${first}]`, id);
      ids.set(id, i);
    });
  }
}
