/** An algorithm whose published settings `preset` stands for. */
export type PresetName =
  | "grpo"
  | "arpo"
  | "aepo"
  | "tree-grpo"
  | "at2po"
  | "treerl"
  | "appo"
  | "fr3e"
  | "treepo"
  | "spo-tree";
