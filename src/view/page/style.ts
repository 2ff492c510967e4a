import { grey } from "../../../common/picture/grey.js";
import {
  designTokens,
  entropyRamps,
  pageGround,
  properties,
  rulesOfPage,
} from "../../../common/picture/palette.js";

/** The colours of a theme that every view refers to; lines and soft grounds are the page's own, greyed. */
function meanings(theme: keyof typeof designTokens): string {
  const { accent, "accent-ink": accentInk, right, wrong, tool, notice } = designTokens[theme];
  return properties({
    ...{ accent, "accent-ink": accentInk, right, wrong, tool, notice },
    ...{ entropy: entropyRamps[theme][5], ground: pageGround[theme].paper },
  });
}

/** The style sheet of every view: on the colours of the page, so that light and dark need no switch. */
export const widgetStyle = `
${rulesOfPage(".arpo-view", meanings)}
.arpo-view[data-theme=light]{${meanings("light")}}
.arpo-view[data-theme=dark]{${meanings("dark")}}
.arpo-view{${properties({ line: grey(0.3), soft: grey(0.09) })};font:13px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;max-width:100%;text-align:left}
.arpo-view *{box-sizing:border-box}
.arpo-view .arpo-title{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:baseline;margin:2px 0 6px}
.arpo-view .arpo-title b{font-size:15px}
.arpo-view .arpo-muted{opacity:.72}
.arpo-view .arpo-bar{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;margin:6px 0;border:0;padding:0;min-width:0}
.arpo-view fieldset.arpo-bar{border:1px solid var(--line);border-radius:8px;padding:4px 12px 8px;background:var(--soft)}
.arpo-view legend{font-weight:600;padding:0 4px}
.arpo-view label{display:inline-flex;align-items:center;gap:6px;max-width:100%}
.arpo-view select{min-width:0;max-width:100%}
.arpo-view select,.arpo-view button,.arpo-view textarea,.arpo-view input[type=search]{font:inherit;color:inherit;background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:2px 8px}
.arpo-view button{cursor:pointer}
.arpo-view button:hover:not(:disabled){border-color:var(--accent)}
.arpo-view button:disabled{opacity:.5;cursor:default}
.arpo-view :focus-visible{outline:2px solid var(--accent);outline-offset:1px}
.arpo-view option{color:${pageGround.light.ink};background:${pageGround.light.paper}}
.arpo-view input[type=range]{width:110px;accent-color:var(--accent)}
.arpo-view output{font-variant-numeric:tabular-nums}
.arpo-view .arpo-legend{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:center;margin:6px 0}
.arpo-view .arpo-legend .arpo-ramp{display:inline-block;width:110px;height:10px;border-radius:3px;border:1px solid var(--line)}
.arpo-view .arpo-key{display:inline-block;width:14px;height:11px;border-radius:3px;margin-right:6px}
.arpo-view summary{cursor:pointer;opacity:.8}
.arpo-view p,.arpo-view h4{margin:4px 0}
.arpo-view pre{white-space:pre-wrap;overflow-wrap:anywhere;color:inherit;background:var(--soft);border-radius:6px;padding:6px 8px;margin:4px 0;max-height:160px;overflow:auto;font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
.arpo-view .arpo-text{white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.75 ui-monospace,"DejaVu Sans Mono",monospace;max-height:260px;overflow:auto;border:1px solid var(--line);border-radius:8px;padding:6px 8px}
.arpo-view .arpo-text:focus-visible{outline-offset:-2px}
.arpo-view .arpo-text span{border-radius:2px;padding:1px 0}
.arpo-view .arpo-result{border-bottom:2px dotted var(--tool)}
.arpo-view .arpo-less{border-top:2px dotted currentColor}
.arpo-view .arpo-mark-key{display:inline-block}
.arpo-view .arpo-on{outline:2px solid var(--accent)}
.arpo-view .arpo-token{min-height:1.5em;margin:4px 0;white-space:pre-wrap}
.arpo-view table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:4px 0;font-size:inherit;color:inherit;background:none;border:0}
.arpo-view caption{text-align:left;font-weight:600;color:inherit;padding:2px 0}
.arpo-view tr,.arpo-view thead,.arpo-view tbody tr:nth-child(n){background:none;border:0}
.arpo-view.arpo-view th,.arpo-view.arpo-view td{text-align:left;padding:2px 12px 2px 0;border:0;border-bottom:1px solid var(--line);vertical-align:baseline;max-width:none;white-space:normal}
.arpo-view th{font-weight:600}
.arpo-view.arpo-view .arpo-number{text-align:right;white-space:nowrap}
.arpo-view .arpo-notice{border-left:4px solid var(--notice);padding:3px 10px;margin:6px 0}
.arpo-view .arpo-columns{display:flex;flex-wrap:wrap;gap:12px}
.arpo-view .arpo-columns>div{flex:1 1 300px;min-width:0}
.arpo-view .arpo-wide{overflow:auto}
.arpo-view .arpo-wide>svg{min-width:620px}
.arpo-view .arpo-wide:focus-visible{outline-offset:-2px}
.arpo-view input[type=number]{font:inherit;color:inherit;background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:2px 6px;width:62px}
.arpo-view textarea{width:min(460px,100%);font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
.arpo-view .arpo-fork{border:1px solid var(--accent);border-radius:8px;padding:4px 10px}
.arpo-view code{font:12px ui-monospace,"DejaVu Sans Mono",monospace;background:var(--soft);color:inherit;border-radius:4px;padding:1px 4px}
.arpo-view .arpo-cards{display:flex;flex-wrap:wrap;gap:8px;margin:2px 0 8px}
.arpo-view .arpo-card{display:inline-flex;flex-direction:column;min-width:92px;border:1px solid var(--line);border-radius:8px;background:var(--soft);padding:5px 12px}
.arpo-view .arpo-card b{font-size:15px;font-variant-numeric:tabular-nums}
.arpo-view [role=tablist]{display:flex;flex-wrap:wrap;gap:4px;margin:6px 0}
.arpo-view [role=tab]{border-radius:999px;padding:3px 12px}
.arpo-view [role=tab][aria-selected=true]{background:var(--accent);border-color:var(--accent);color:var(--accent-ink);font-weight:600}
`;
