import type { Look, Painter } from "./painter.js";
import { mono, sans } from "./theme.js";

/** Draws on a canvas. */
export function canvasPainter(context: CanvasRenderingContext2D): Painter {
  const stroked = (look: Look, stroke: () => void) => {
    if (!look.stroke) return;
    context.setLineDash([...(look.dash ?? [])]);
    context.lineCap = look.butt ? "butt" : "round";
    context.lineJoin = "round";
    context.strokeStyle = look.stroke;
    context.lineWidth = look.width ?? 1;
    stroke();
    if (look.dash) context.setLineDash([]);
  };
  const outlined = (look: Look) => {
    if (look.fill) {
      context.fillStyle = look.fill;
      context.fill();
    }
    stroked(look, () => context.stroke());
  };
  return {
    rect: (x, y, width, height, look) => {
      context.globalAlpha = look.alpha ?? 1;
      if (!look.round && !look.stroke && look.fill) {
        context.fillStyle = look.fill;
        context.fillRect(x, y, width, height);
        return;
      }
      context.beginPath();
      context.roundRect(x, y, Math.max(0, width), Math.max(0, height), look.round ?? 0);
      outlined(look);
    },
    path: (text, look) => {
      const path = new Path2D(text);
      context.globalAlpha = look.alpha ?? 1;
      if (look.fill) {
        context.fillStyle = look.fill;
        context.fill(path);
      }
      stroked(look, () => context.stroke(path));
    },
    circle: (x, y, radius, look) => {
      context.globalAlpha = look.alpha ?? 1;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      outlined(look);
    },
    text: (x, y, text, look) => {
      context.globalAlpha = look.alpha ?? 1;
      context.font = `${look.weight ?? 400} ${look.size ?? 11}px ${look.mono ? mono : sans}`;
      context.textAlign = look.align ?? "left";
      context.textBaseline = "middle";
      context.fillStyle = look.fill;
      context.fillText(text, x, y);
    },
    bars: (bars, colours, alpha) => {
      context.globalAlpha = alpha;
      bars.forEach((list, step) => {
        if (!list) return;
        context.fillStyle = colours[step]!;
        for (let i = 0; i < list.length; i += 4) {
          context.fillRect(list[i]!, list[i + 1]!, list[i + 2]!, list[i + 3]!);
        }
      });
    },
    clip: (x, y, width, height, draw) => {
      context.save();
      context.beginPath();
      context.rect(x, y, width, height);
      context.clip();
      draw();
      context.restore();
    },
    image: (image, { x, y, width, height }) => {
      context.globalAlpha = 1;
      context.drawImage(image, x, y, width, height);
    },
  };
}
