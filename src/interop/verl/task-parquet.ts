import type { SchemaElement } from "hyparquet";
import type { Task } from "../../tasks/task.js";

const text = (name: string): SchemaElement => ({
  ...{ name, type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
});
const group = (name: string, ...children: SchemaElement[][]): SchemaElement[] => [
  { name, repetition_type: "OPTIONAL", num_children: children.length },
  ...children.flat(),
];
const list = (name: string, element: SchemaElement[]): SchemaElement[] => [
  { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  ...element,
];

/** Tasks as a parquet file in the columns that verl and the tree's loop read. */
export async function taskParquet(tasks: readonly Task[], loop: string): Promise<Uint8Array> {
  // A column has one type: where one task has several answers, all have lists.
  const lists = tasks.some(({ groundTruth }) => Array.isArray(groundTruth));
  const truth = ({ groundTruth = "" }: Task) => (lists ? [groundTruth].flat() : groundTruth);
  const columns: [name: string, schema: SchemaElement[], cell: (t: Task, i: number) => unknown][] =
    [
      ["data_source", [text("data_source")], ({ dataSource }) => dataSource],
      [
        "prompt",
        list("prompt", group("element", [text("role")], [text("content")])),
        ({ prompt }) => prompt.map(({ role, content }) => ({ role, content })),
      ],
      [
        "reward_model",
        group(
          "reward_model",
          [text("style")],
          lists ? list("ground_truth", [text("element")]) : [text("ground_truth")],
        ),
        (task) => ({ style: "rule", ground_truth: truth(task) }),
      ],
      [
        "extra_info",
        group(
          "extra_info",
          [{ name: "index", type: "INT64", repetition_type: "OPTIONAL" }],
          [text("id")],
          [text("extra")],
        ),
        ({ id, extra }, i) => ({ index: BigInt(i), id, extra: JSON.stringify(extra) }),
      ],
      ["agent_name", [text("agent_name")], () => loop],
    ];
  const { parquetWriteBuffer } = await import("hyparquet-writer"); // Slow to load, seldom needed.
  const root: SchemaElement = { name: "root", num_children: columns.length };
  const written = parquetWriteBuffer({
    schema: [root, ...columns.flatMap(([, elements]) => elements)],
    columnData: columns.map(([name, , cell]) => ({ name, data: tasks.map(cell) })),
  });
  return new Uint8Array(written);
}
