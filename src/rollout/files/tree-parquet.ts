import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { SchemaElement } from "hyparquet";
import { fromExactJson, toExactJson } from "./exact-json.js";
import { RolloutTree } from "../rollout-tree.js";
import type { RolloutTreeData } from "../tree/tree-data.js";
import type { RolloutTask } from "../task.js";
import { checkTree } from "./check-tree.js";
import { currentConfig } from "./current-config.js";
import { refuseOldTree, tightNode, tightSupport, treeData } from "./tree-jsonl.js";
import type { FinishReason } from "../../policy/policy.js";
import type { TreeNode } from "../tree/tree-values.js";

type Column = [name: string, schema: SchemaElement[]];

const scalar = (
  name: string,
  type: "INT32" | "DOUBLE" | "text",
  repetition_type: "REQUIRED" | "OPTIONAL" = "REQUIRED",
): Column => [
  name,
  [
    type === "text"
      ? { name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type }
      : { name, type, repetition_type },
  ],
];
const list = (name: string, type: "INT32" | "FLOAT"): Column => [
  name,
  [
    { name, repetition_type: "REQUIRED", num_children: 1, converted_type: "LIST" },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "REQUIRED", type },
  ],
];

const supportColumns: Column[] = [
  list("support_offsets", "INT32"),
  list("support_ids", "INT32"),
  list("support_logprobs", "FLOAT"),
  list("support_given", "INT32"),
];
const versionColumn = list("versions", "INT32");

// A row per node, and before the nodes of each tree one of kind `prompt` that carries everything else.
const columns: Column[] = [
  scalar("tree", "INT32"),
  scalar("node", "INT32"),
  scalar("parent", "INT32"),
  scalar("kind", "text"),
  scalar("trajectory", "INT32"),
  scalar("round", "INT32"),
  scalar("text", "text"),
  list("tokens", "INT32"),
  list("logprobs", "FLOAT"),
  list("entropies", "FLOAT"),
  scalar("entropy", "DOUBLE", "OPTIONAL"),
  scalar("finish", "text", "OPTIONAL"),
  scalar("stop", "text", "OPTIONAL"),
  scalar("top_width", "INT32", "OPTIONAL"),
  list("top_ids", "INT32"),
  list("top_logprobs", "FLOAT"),
  ...supportColumns,
  versionColumn,
  scalar("tool", "text", "OPTIONAL"),
  scalar("branch", "text", "OPTIONAL"),
  scalar("run", "text", "OPTIONAL"),
  scalar("header", "text", "OPTIONAL"),
];

const schema: SchemaElement[] = [
  { name: "root", num_children: columns.length },
  ...columns.flatMap(([, elements]) => elements),
];

type Cells = Record<string, unknown>;

const json = (value: unknown) => (value === undefined ? null : toExactJson(value));

function cells(tree: number, node: TreeNode): Cells {
  return {
    tree,
    node: node.id,
    parent: node.parent,
    kind: node.kind,
    trajectory: node.trajectory,
    round: node.round,
    text: node.text,
    tokens: node.tokens,
    logprobs: node.logprobs,
    entropies: node.entropies,
    entropy: node.entropy ?? null,
    finish: node.finish ?? null,
    stop: node.stop ?? null,
    top_width: node.top?.width ?? null,
    top_ids: node.top?.ids ?? [],
    top_logprobs: node.top?.logprobs ?? [],
    support_offsets: node.support?.offsets ?? [],
    support_ids: node.support?.ids ?? [],
    support_logprobs: node.support?.logprobs ?? [],
    versions: node.versions ?? [],
    support_given: node.support?.given ?? [],
    tool: json(node.tool),
    branch: json(node.branch),
    run: json(node.run),
    header: null,
  };
}

/**
 * Trees as one parquet file, without loss: a row per node, so that a data frame can group and filter
 * them, and for each tree a first row of kind `prompt` whose `header` holds the rest as JSON.
 */
export async function treesToParquet(
  trees: Iterable<RolloutTree>,
  options: { timing?: boolean } = {},
): Promise<ArrayBuffer> {
  checkArguments("write trees", { trees }, { trees: "items" });
  checkOptions("write trees", options, { timing: "boolean?" });
  const { timing = true } = options;
  const { parquetWriteBuffer } = await import("hyparquet-writer"); // Slow to load, seldom needed.
  const rows: Cells[] = [];
  for (const [i, tree] of [...trees].entries()) {
    const { nodes, prompt, ...rest } = treeData(tree, timing);
    const nothing = new Float32Array(0);
    const root: TreeNode = {
      id: -1,
      parent: -1,
      kind: "model",
      trajectory: -1,
      round: -1,
      tokens: prompt.tokens,
      text: prompt.text,
      logprobs: nothing,
      entropies: nothing,
    };
    rows.push({ ...cells(i, root), kind: "prompt", header: toExactJson(rest) });
    for (const node of nodes) rows.push(cells(i, node));
  }
  return parquetWriteBuffer({
    schema,
    columnData: columns.map(([name, elements]) => ({
      name,
      data: rows.map((row) => {
        const cell = row[name];
        return ArrayBuffer.isView(cell) ? Array.from(cell as Int32Array) : cell;
      }),
      // A dictionary would make -0 and 0 one value.
      ...(elements.at(-1)!.type === "FLOAT" ? { encoding: "PLAIN" as const } : {}),
    })),
  });
}

interface ParquetRow {
  tree: number;
  node: number;
  parent: number;
  kind: string;
  trajectory: number;
  round: number;
  text: string;
  tokens: number[];
  logprobs: number[];
  entropies: number[];
  entropy?: number;
  finish?: string;
  stop?: string;
  top_width?: number;
  top_ids: number[];
  top_logprobs: number[];
  support_offsets?: number[];
  support_ids?: number[];
  support_logprobs?: number[];
  versions?: number[];
  support_given?: number[];
  tool?: string;
  branch?: string;
  run?: string;
  header?: string;
}

/** Reads what `treesToParquet` wrote. */
export async function treesFromParquet<T extends RolloutTask = RolloutTask>(
  file: ArrayBuffer,
): Promise<RolloutTree<T>[]> {
  checkArguments("read trees", { file }, { file: "bytes" });
  const { parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const metadata = await parquetMetadataAsync(file);
  const names = metadata.schema.map((element) => element.name);
  if (names.includes("header") && names.includes("row")) refuseOldTree({ rows: [] });
  // Files from before there were supports and versions have none.
  const later = new Set([...supportColumns, versionColumn].map(([name]) => name));
  const missing = columns
    .map(([name]) => name)
    .filter((name) => !names.includes(name) && !later.has(name));
  if (missing.length > 0) {
    throw new SyntaxError(
      `Cannot read trees: the parquet file must have been written by treesToParquet, got one without the column ${missing[0]}`,
    );
  }
  const rows = (await parquetReadObjects({ file, metadata })) as unknown as ParquetRow[];
  const trees: RolloutTreeData<T>[] = [];
  for (const row of rows) {
    if (row.kind === "prompt") {
      const header = fromExactJson(row.header ?? "{}") as RolloutTreeData<T>;
      refuseOldTree(header);
      trees.push({
        ...header,
        prompt: { text: row.text, tokens: Int32Array.from(row.tokens) },
        nodes: [],
      });
    } else if (trees.length === 0) {
      throw new SyntaxError(
        "Cannot read trees: a prompt must come before its nodes, got a node first",
      );
    } else trees.at(-1)!.nodes.push(nodeOf(row));
  }
  return trees.map((data, i) => {
    checkTree(data as unknown as Record<string, unknown>, `tree ${i + 1} of the file`);
    return new RolloutTree({ ...data, config: currentConfig(data.config) });
  });
}

function nodeOf(row: ParquetRow): TreeNode {
  const { node: id, parent, kind, round, text, tokens, logprobs, entropies } = row;
  const node = tightNode({
    id,
    parent,
    kind: kind as TreeNode["kind"],
    trajectory: row.trajectory,
    round,
    text,
    tokens,
    logprobs,
    entropies,
  });
  if (row.entropy != null) node.entropy = row.entropy;
  if (row.finish != null) node.finish = row.finish as FinishReason;
  if (row.stop != null) node.stop = row.stop;
  if (row.top_width != null) {
    node.top = {
      width: row.top_width,
      ids: Int32Array.from(row.top_ids),
      logprobs: Float32Array.from(row.top_logprobs),
    };
  }
  if (row.support_offsets && row.support_offsets.length > 0) {
    node.support = tightSupport({
      offsets: row.support_offsets,
      ids: row.support_ids ?? [],
      logprobs: row.support_logprobs ?? [],
      ...(row.support_given?.length ? { given: row.support_given } : {}),
    });
  }
  if (row.versions && row.versions.length > 0) node.versions = Int32Array.from(row.versions);
  if (row.tool != null) node.tool = fromExactJson(row.tool) as TreeNode["tool"];
  if (row.branch != null) node.branch = fromExactJson(row.branch) as TreeNode["branch"];
  if (row.run != null) node.run = fromExactJson(row.run) as TreeNode["run"];
  return node;
}
