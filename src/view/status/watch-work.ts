import { program } from "#pages/status";
import { randomUUID } from "#platform/uuid";
import { escapeHtml } from "../../../common/picture/escape.js";
import type { LiveShow } from "../../base/show/show-as.js";
import { viewHost } from "../kernel.js";
import { neutral } from "../../../common/picture/grey.js";
import { palettes } from "../../../common/picture/palette.js";
import { View } from "../page/view.js";
import { curvesPicture } from "./curves-picture.js";
import { curvesText } from "./curves-text.js";
import { LiveStatus } from "./live-status.js";
import type { WorkStatus } from "./payload.js";

const leastPause = 500;

const style = `
.arpo-status progress{width:min(420px,100%);accent-color:var(--accent)}
.arpo-status pre{max-height:none}
.arpo-status .arpo-curves>div>svg{display:block}
.arpo-status .arpo-curves .arpo-bar{margin:2px 0}
`;

/** Work whose value shows itself once it is done: its kind says what a Stop button ends it after. */
export interface Work {
  after: string;
  /** Called when its Stop button is pressed. */
  stop?: () => void;
}

/** Shows how far work is while it goes on, in place; nothing of that is left at its end. */
export function watchWork({ after, stop }: Work): LiveShow | undefined {
  const host = viewHost();
  if (!host?.cell()) return undefined;
  const id = randomUUID();
  const live = new LiveStatus(after, stop);
  let shown = false;
  let next = 0;
  const show = () => {
    const now = performance.now();
    if (now < next) return;
    next = now + leastPause;
    host.display(new StatusView(live.status, id).bundle(), { id, update: shown });
    shown = true;
  };
  return {
    get stopping() {
      return live.stopping;
    },
    tell: (line, more) => {
      // A page that listens needs no other display.
      if (!live.tell(line, more) || !shown) show();
    },
    step: () => undefined,
    done: () => {
      live.end();
      if (shown) host.display({}, { id, update: true });
    },
  };
}

/** How far work is: its line, its table and its curves. */
class StatusView extends View<WorkStatus> {
  protected override readonly page = { name: "status", style, program };

  constructor(
    payload: WorkStatus,
    protected override readonly key: string,
  ) {
    super(payload);
  }

  override get summary(): string {
    const { line, table, curves } = this.payload;
    return [table ?? [], curves ? curvesText(curves) : [], line].flat().join("\n");
  }

  override picture(): undefined {
    return undefined;
  }

  protected override still(): string {
    const { line, table, curves } = this.payload;
    const { series, ink = neutral } = palettes.auto;
    return [
      `<p>${escapeHtml(line)}</p>`,
      ...(table === undefined ? [] : [`<pre>${escapeHtml(table)}</pre>`]),
      ...(curves ? [curvesPicture(curves, { width: 620, colours: series, ink })] : []),
    ].join("");
  }
}
