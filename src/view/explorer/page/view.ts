import type { Address } from "../../page/address.js";
import type { PageColours } from "../../page/page-colours.js";
import type { Measure, Quantity, Scale } from "./draw/measures.js";
import type { Moment, Scene } from "./draw/scene.js";
import type { Theme } from "../../draw/theme.js";
import type { Align } from "./layout/columns.js";
import type { Filter } from "./layout/lane-order.js";
import type { Layout } from "./layout/layout.js";
import type { ShownReplay, WhatIf } from "./tree/shown-replay.js";
import type { TreeFacts } from "./tree/tree-facts.js";

export type Tab = "segment" | "whatif" | "keys";

/** What the user chose and looks at. */
export interface ExplorerState {
  quantity: Quantity;
  scale: Scale;
  align: Align;
  lanes: "auto" | "small" | "tall";
  filter: Filter;
  zoom: number;
  unfolded: Set<number>;
  whatIf: WhatIf;
  /** The node, its token and the trajectory that are selected; -1 for none. */
  selected: number;
  token: number;
  trajectory: number;
  compared: number;
  /** Under the pointer. */
  hovered: number;
  hoveredMark: number;
  /** A mark that B or the playback has come to, and what is said there. */
  focusedMark: number;
  pill: string | undefined;
  tab: Tab;
  isOpen: boolean;
  /** The policy that the tree is drawn under, also between two of them, and the one it goes to. */
  policy: number;
  policyTo: number;
}

/** What every part of the explorer may ask of it. */
export interface ExplorerView {
  /** The element that everything is in. */
  readonly root: HTMLElement;
  readonly scroller: HTMLElement;
  readonly facts: TreeFacts;
  readonly state: ExplorerState;
  readonly replay: ShownReplay;
  readonly layout: Layout;
  readonly measure: Measure;
  readonly theme: Theme;
  readonly colours: PageColours;
  /** What a link to the page says. */
  readonly address: Address;
  /** Each trajectory's log probability ratio under the policy of now; undefined where only one is known. */
  logRatios: Float64Array | undefined;
  /** How far the playback is; undefined where none is on. */
  moment: Moment | undefined;
  /** Draws with the next frame. */
  draw: () => void;
  /** Follows from the choices anew: the layout, the toolbar, the legend and the panel. */
  update: () => void;
  select: (node: number, token?: number, trajectory?: number) => void;
  unfold: (node: number) => void;
  openTab: (tab: Tab | undefined) => void;
  compareWith: (trajectory: number) => void;
  /** 0 fits everything. */
  zoom: (factor: number, clientX?: number) => void;
  /** Brings a node into view. */
  reveal: (node: number) => void;
  /** Told to screen readers; `isShown` to everybody. */
  say: (text: string, isShown?: boolean) => void;
  /** The whole tree, or what is in view, ready to be drawn. */
  scene: (isWhole: boolean) => Scene;
  /** So many policies on or back, and to the last one up to a step of the run. */
  policyBy: (count: number) => void;
  policyAt: (step: number) => void;
  /** What stands below the question. */
  summary: () => string;
}
