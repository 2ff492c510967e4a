/** A tree as the rules that choose among turns see it: what hangs where, in order of creation. */
export interface Outline {
  id: string;
  children?: readonly Outline[];
}

/** Every node below the root, level by level. */
export function breadthFirst<N extends Outline>(root: N): N[] {
  const found: N[] = [];
  let level = [...((root.children ?? []) as readonly N[])];
  while (level.length > 0) {
    found.push(...level);
    level = level.flatMap((node) => [...((node.children ?? []) as readonly N[])]);
  }
  return found;
}

const isLeaf = ({ children = [] }: Outline) => children.length === 0;

/** The root, then every node below it that is not a leaf, level by level. */
export function innerNodes<N extends Outline>(root: N): N[] {
  return [root, ...breadthFirst(root).filter((node) => !isLeaf(node))];
}

/** The leaves below the root, level by level. */
export function leavesOf<N extends Outline>(root: N): N[] {
  return breadthFirst(root).filter(isLeaf);
}

/**
 * The tree with some of its leaves only: the others go, and with each every node above it that has no
 * child left.
 */
export function withLeaves<N extends Outline>(root: N, kept: ReadonlySet<string>): N {
  const children = ((root.children ?? []) as readonly N[]).flatMap((child) => {
    if (isLeaf(child)) return kept.has(child.id) ? [child] : [];
    const left = withLeaves(child, kept);
    return isLeaf(left) ? [] : [left];
  });
  return { ...root, children };
}
