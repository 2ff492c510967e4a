import { gutterColumns } from "./draw-gutter.js";
import type { Painter } from "./painter.js";
import { across, type Scene } from "./scene.js";

/** The line above the lanes: turns, or a ruler in tokens or time, and the columns at the right. */
export function drawHead(painter: Painter, scene: Scene): void {
  const { facts, layout, theme, view } = scene;
  const right = view.width - layout.gutter;
  const y = layout.head / 2;
  painter.rect(0, 0, view.width, layout.head, { fill: theme.paper });
  painter.clip(layout.left - 14, 0, Math.max(0, right - layout.left + 10), layout.head, () => {
    if (layout.align === "turns") drawTurns(painter, scene, y);
    else drawRuler(painter, scene, y);
  });
  const columns = gutterColumns(layout, right);
  const faint = { size: 11, fill: theme.ink3 };
  if (columns.answer !== undefined) {
    painter.text(columns.answer + 62, y, "answer", { ...faint, align: "right" });
  }
  if (columns.score && facts.mean !== undefined) {
    painter.text(columns.score.at, y, "score", { ...faint, align: "center" });
  }
  if (facts.advantages.some((each) => each !== undefined)) {
    if (layout.isPhone) {
      painter.text(columns.advantage.at, y, "adv.", { ...faint, align: "center" });
    } else painter.text(columns.advantageText!, y, "advantage", { ...faint, align: "right" });
  }
  painter.path(`M0 ${layout.head - 0.5}H${view.width}`, { stroke: theme.line });
}

function drawTurns(painter: Painter, scene: Scene, y: number): void {
  const { facts, layout, theme } = scene;
  for (let turn = 0; turn < facts.turns; turn++) {
    const x = across(scene, layout.turnX[turn]!);
    const wide = layout.turnTokens[turn]! * layout.tokenWidth;
    painter.text(turn > 0 ? x : x - 2, y, layout.isPhone ? `${turn + 1}` : `Turn ${turn + 1}`, {
      ...{ size: 11.5, weight: 600, fill: theme.ink2 },
    });
    if (!layout.isPhone && wide > 190) {
      const words = turn === facts.turns - 1 ? "the model answers" : "the model writes";
      painter.text(x + 48, y, words, { size: 11, fill: theme.ink3 });
    }
    const chip = layout.chipWidth[turn]!;
    if (chip > 56 && wide > 58) {
      const words = chip > 80 ? "tool result" : "tool";
      painter.text(across(scene, layout.chipX[turn]!) + 4, y, words, {
        ...{ size: 11, fill: theme.tool },
      });
    }
  }
}

function drawRuler(painter: Painter, scene: Scene, y: number): void {
  const { layout, theme, facts } = scene;
  const isTime = layout.align === "time";
  const longest = facts.tree.nodes.reduce((most, { ended }) => Math.max(most, ended ?? 0), 1);
  const scale = isTime ? layout.end / longest : layout.tokenWidth;
  const apart = 90 / scale;
  const power = 10 ** Math.floor(Math.log10(apart));
  const step = Math.max(1, power * ([1, 2, 5].find((m) => m * power >= apart) ?? 10));
  const inSeconds = isTime && step >= 1000;
  const unit = isTime ? (inSeconds ? "s" : "ms") : "tokens by the model";
  const look = { size: 11, fill: theme.ink3 };
  for (let value = 0; value * scale < layout.totalWidth; value += step) {
    const told = inSeconds ? value / 1000 : value;
    painter.text(across(scene, value * scale), y, value === 0 ? `0 ${unit}` : String(told), look);
  }
}
