import { designTokens, entropyRamps, properties } from "../../../common/picture/palette.js";

/** The explorer's buttons, menus, sliders and tables. */
const controlStyle = `
.arpo-view .ax .ax-bar{display:flex;flex-wrap:nowrap;gap:8px;align-items:center;margin:12px 0 8px;min-width:0}
.arpo-view .ax .ax-grow{flex:1}
.arpo-view .ax .ax-button{display:inline-flex;align-items:center;justify-content:center;gap:6px;min-height:var(--tap);padding:0 11px;border:1px solid var(--line);border-radius:8px;background:var(--raised);color:var(--ink);font:500 13px/1 var(--sans);cursor:pointer;white-space:nowrap;transition:background var(--speed),border-color var(--speed)}
.arpo-view .ax .ax-button:hover:not(:disabled){background:var(--surface);border-color:var(--line-strong)}
.arpo-view .ax .ax-button[aria-pressed=true],.arpo-view .ax .ax-button[aria-expanded=true]{background:var(--accent-soft);border-color:var(--accent);color:var(--accent)}
.arpo-view .ax .ax-button:disabled{opacity:.45;cursor:default}
.arpo-view .ax .ax-button.ax-primary{background:var(--accent);border-color:var(--accent);color:var(--accent-ink)}
.arpo-view .ax .ax-square{padding:0;width:var(--tap);flex:none}
.arpo-view .ax .ax-quiet{border-color:transparent;background:transparent}
.arpo-view .ax .ax-icon{width:16px;height:16px;flex:none}
.arpo-view .ax .ax-segments{display:inline-flex;flex:none;border:1px solid var(--line);border-radius:8px;overflow:hidden;background:var(--raised)}
.arpo-view .ax .ax-segments button{min-height:var(--tap);min-width:var(--tap);border:0;border-radius:0;border-left:1px solid var(--line);background:none;padding:0 10px;color:var(--ink-2);font:500 13px/1 var(--sans);cursor:pointer;white-space:nowrap}
.arpo-view .ax .ax-segments button:first-child{border-left:0}
.arpo-view .ax .ax-segments button:hover{background:var(--surface)}
.arpo-view .ax .ax-segments button[aria-pressed=true]{background:var(--accent-soft);color:var(--accent);font-weight:600}
.arpo-view .ax .ax-segments button:focus-visible{outline-offset:-2px}
.arpo-view .ax .ax-segments b{font-weight:600;font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-short{display:none}
.arpo-view .ax .ax-zoom{display:inline-flex}
.arpo-view .ax .ax-zoom .ax-button{border-radius:0 8px 8px 0;font-size:16px}
.arpo-view .ax .ax-zoom .ax-button:first-child{border-radius:8px 0 0 8px;border-right:0}
.arpo-view .ax .ax-popover{position:relative}
.arpo-view .ax .ax-menu{position:absolute;z-index:40;right:0;top:calc(100% + 6px);width:250px;max-width:calc(100cqw - 24px);padding:6px;background:var(--raised);border:1px solid var(--line);border-radius:12px;box-shadow:var(--shadow)}
.arpo-view .ax .ax-menu>button{display:flex;width:100%;justify-content:space-between;gap:16px;align-items:center;min-height:var(--tap);padding:0 10px;border:0;border-radius:6px;background:none;color:var(--ink);font:400 13px/1.2 var(--sans);text-align:left;cursor:pointer;white-space:nowrap}
.arpo-view .ax .ax-menu>button:hover,.arpo-view .ax .ax-menu>button:focus-visible{background:var(--surface)}
.arpo-view .ax .ax-menu small{color:var(--ink-2);font-size:11px}
.arpo-view .ax .ax-menu .ax-field,.arpo-view .ax .ax-menu .ax-check{padding:5px 10px}
.arpo-view .ax .ax-field{display:grid;grid-template-columns:1fr auto;gap:2px 8px;align-items:center;font-size:13px}
.arpo-view .ax .ax-field>span{color:var(--ink-2)}
.arpo-view .ax .ax-field output{font-variant-numeric:tabular-nums;font-weight:600}
.arpo-view .ax .ax-field input,.arpo-view .ax .ax-field .ax-select{grid-column:1/-1}
.arpo-view .ax .ax-field small{grid-column:1/-1;font-size:11px;color:var(--ink-2)}
.arpo-view .ax .ax-off>span,.arpo-view .ax .ax-off output{opacity:.75}
.arpo-view .ax .ax-fields{display:grid;gap:10px}
.arpo-view .ax .ax-check{display:flex;gap:8px;align-items:center;min-height:max(28px,var(--tap) - 4px);font-size:13px;cursor:pointer}
.arpo-view .ax .ax-check input{accent-color:var(--accent);width:16px;height:16px;margin:0}
.arpo-view .ax .ax-select{min-height:var(--tap);padding:0 8px;border:1px solid var(--line);border-radius:8px;background:var(--raised);color:var(--ink);font:500 13px/1 var(--sans);width:100%}
.arpo-view .ax .ax-select option{color:var(--ink);background:var(--raised)}
.arpo-view .ax .ax-slider{appearance:none;-webkit-appearance:none;width:100%;height:24px;background:none;margin:0;padding:0;border:0;cursor:pointer;--p:50%}
.arpo-view .ax .ax-slider::-webkit-slider-runnable-track{height:4px;border-radius:2px;background:linear-gradient(to right,var(--accent) var(--p),var(--line-strong) var(--p))}
.arpo-view .ax .ax-slider::-moz-range-track{height:4px;border-radius:2px;background:linear-gradient(to right,var(--accent) var(--p),var(--line-strong) var(--p))}
.arpo-view .ax .ax-slider::-webkit-slider-thumb{-webkit-appearance:none;appearance:none;width:18px;height:18px;margin-top:-7px;border-radius:50%;background:var(--raised);border:2px solid var(--accent)}
.arpo-view .ax .ax-slider::-moz-range-thumb{width:14px;height:14px;border-radius:50%;background:var(--raised);border:2px solid var(--accent)}
.arpo-view .ax .ax-slider:disabled{opacity:.4;cursor:default}
.arpo-view .ax .ax-chip{display:inline-flex;align-items:center;height:22px;padding:0 8px;border-radius:5px;border:1px solid transparent;font:500 12px/1 var(--sans);white-space:nowrap}
.arpo-view .ax .ax-chip.ax-right{background:var(--right-soft);color:var(--right)}
.arpo-view .ax .ax-chip.ax-wrong{background:var(--wrong-soft);color:var(--wrong)}
.arpo-view .ax .ax-chip.ax-plain{background:var(--surface-2);color:var(--ink-2)}
.arpo-view .ax .ax-chip.ax-new{background:var(--accent-soft);color:var(--accent);border:1px dashed var(--accent)}
.arpo-view .ax .ax-count{width:58px;min-height:var(--tap);font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--line-strong);border-radius:8px;padding:0 6px}
.arpo-view .ax textarea{width:100%;font:12px/1.5 var(--mono);color:var(--ink);background:var(--paper);border:1px solid var(--line-strong);border-radius:8px;padding:6px 8px}
.arpo-view .ax kbd{font:11px var(--mono);border:1px solid var(--line);border-bottom-width:2px;border-radius:4px;padding:0 5px;background:var(--surface);color:var(--ink-2);box-shadow:none}
.arpo-view .ax .ax-keys{white-space:nowrap}
.arpo-view .ax .ax-link{border:0;background:none;color:var(--accent);font:inherit;text-decoration:underline;padding:2px 6px;cursor:pointer}
.arpo-view .ax .ax-table{border-collapse:collapse;width:100%;margin:0;font-size:12px;color:var(--ink);font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-table th{text-align:left;font-weight:600;font-size:11px;color:var(--ink-2);padding:4px 10px 4px 0;border:0;border-bottom:1px solid var(--line);background:none}
.arpo-view .ax .ax-table td{padding:4px 10px 4px 0;border:0;border-bottom:1px solid var(--line);vertical-align:baseline;text-align:left;color:var(--ink)}
.arpo-view .ax .ax-decision .ax-table td:last-child{text-align:right;padding-right:0;font-weight:600;white-space:nowrap}
.arpo-view .ax .ax-decision .ax-table tr:last-child td{border:0}
@container ax (max-width:860px){.arpo-view .ax .ax-wide{display:none}}
@container ax (max-width:940px){.arpo-view .ax .ax-button:not(.ax-keeps-label) .ax-label{display:none}.arpo-view .ax .ax-bar .ax-button:not(.ax-keeps-label){padding:0;width:var(--tap)}}
@container ax (max-width:540px){.arpo-view .ax .ax-zoom,.arpo-view .ax .ax-long,.arpo-view .ax .ax-bar .ax-label{display:none}.arpo-view .ax .ax-short{display:inline}.arpo-view .ax .ax-bar,.arpo-view .ax .ax-transport{gap:6px;flex-wrap:wrap}.arpo-view .ax .ax-bar .ax-button{padding:0;width:var(--tap);flex:none}.arpo-view .ax .ax-segments button{padding:0 7px;font-size:12px}.arpo-view .ax .ax-popover:not(:last-child) .ax-menu{right:-52px}}
`;

const coloursOf = (theme: keyof typeof designTokens) =>
  properties({
    ...designTokens[theme],
    ...Object.fromEntries(entropyRamps[theme].map((colour, i) => [`h${i}`, colour])),
  });

const sans = `Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif`;
const mono = `ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace`;

/** The colours of the explorer, by theme. */
const tokens = `
.arpo-view .ax{${coloursOf("light")};color-scheme:light;--shadow:0 1px 2px rgb(16 24 40/.06),0 6px 20px rgb(16 24 40/.12);--sans:${sans};--mono:${mono};--tap:32px;--speed:180ms}
.arpo-view .ax[data-theme=dark]{${coloursOf("dark")};color-scheme:dark;--shadow:0 1px 2px rgb(0 0 0/.4),0 8px 28px rgb(0 0 0/.5)}
@media (pointer:coarse){.arpo-view .ax{--tap:44px}.arpo-view .ax .ax-slider{height:44px!important}}
@media (prefers-reduced-motion:reduce){.arpo-view .ax{--speed:0ms}}
`;

/** What the explorer is made of: it follows its own width (a notebook cell), not the window's. */
const parts = `
.arpo-view .ax{container:ax/inline-size;position:relative;font:400 13px/1.5 var(--sans);color:var(--ink);background:var(--paper);padding:10px 12px;border-radius:12px;text-align:left}
.arpo-view .ax [hidden]{display:none!important}
.arpo-view .ax :focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.arpo-view .ax .ax-title{display:block;margin:0}
.arpo-view .ax .ax-question{display:block;font-size:18px;font-weight:650;line-height:1.25;overflow-wrap:anywhere}
.arpo-view .ax .ax-summary{margin:3px 0 0;color:var(--ink-2);font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-main{display:grid;grid-template-columns:minmax(0,1fr);gap:14px}
.arpo-view .ax .ax-stage{min-width:0}
.arpo-view .ax .ax-plot{position:relative;border:1px solid var(--line);border-radius:12px;overflow:hidden;display:grid;grid-template-columns:minmax(0,1fr) auto;background:var(--paper)}
.arpo-view .ax .ax-scroll{overflow:auto;position:relative;border-radius:12px}
.arpo-view .ax .ax-scroll:focus-visible{outline-offset:-3px}
.arpo-view .ax .ax-scroll canvas{position:sticky;left:0;top:0;display:block}
.arpo-view .ax .ax-minimap{width:64px;border-left:1px solid var(--line);cursor:grab;touch-action:none;display:block}
.arpo-view .ax .ax-legend{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center;padding:6px 2px 0;font-size:12px;color:var(--ink-2);margin:0}
.arpo-view .ax .ax-entry{display:inline-flex;gap:6px;align-items:center}
.arpo-view .ax .ax-picture{display:inline-flex}
.arpo-view .ax .ax-side{border:1px solid var(--line);border-radius:12px;background:var(--paper);min-width:0;overflow:hidden;display:flex;flex-direction:column}
.arpo-view .ax .ax-side-head{display:flex;border-bottom:1px solid var(--line);background:var(--surface);padding:0 6px}
.arpo-view .ax .ax-tabs{display:flex;flex:1;margin:0;gap:0}
.arpo-view .ax .ax-tabs button,.arpo-view .ax .ax-close{border:0;border-radius:0;background:none;min-height:max(38px,var(--tap));min-width:max(32px,var(--tap));padding:0 10px;color:var(--ink-2);font:500 13px/1 var(--sans);cursor:pointer;border-bottom:2px solid transparent}
.arpo-view .ax .ax-tabs button[aria-selected=true]{color:var(--accent);border-color:var(--accent);font-weight:600}
.arpo-view .ax .ax-tabs button:focus-visible,.arpo-view .ax .ax-close:focus-visible{outline-offset:-3px}
.arpo-view .ax .ax-close{font-size:18px;color:var(--ink-2)}
.arpo-view .ax .ax-body{padding:12px 14px 14px;overflow:auto;display:grid;gap:10px;align-content:start;grid-auto-rows:max-content}
.arpo-view .ax .ax-body:focus-visible{outline-offset:-3px}
.arpo-view .ax h3{font:600 12px/1.3 var(--sans);color:var(--ink-2);margin:4px 0 -4px}
.arpo-view .ax p{margin:0}
.arpo-view .ax pre{margin:0;padding:8px 10px;background:var(--surface);color:var(--ink);border:0;border-radius:8px;font:12px/1.5 var(--mono);white-space:pre-wrap;overflow-wrap:anywhere;max-height:150px;overflow:auto}
.arpo-view .ax code{background:var(--surface-2);color:var(--ink);border-radius:3px;padding:0 4px;font:12px var(--mono);white-space:pre-wrap;overflow-wrap:anywhere}
.arpo-view .ax .ax-head-line{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;color:var(--ink-2)}
.arpo-view .ax .ax-head-line>b{font-size:15px;color:var(--ink)}
.arpo-view .ax .ax-note,.arpo-view .ax .ax-muted{color:var(--ink-2);font-size:12px}
.arpo-view .ax .ax-note b{color:var(--ink)}
.arpo-view .ax .ax-number{font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-accent{color:var(--accent)}
.arpo-view .ax .ax-text{font:12.5px/2.05 var(--mono);white-space:pre-wrap;overflow-wrap:anywhere;color:var(--ink);border:1px solid var(--line);border-radius:8px;padding:4px 10px 8px;max-height:240px;overflow:auto;background:var(--paper)}
.arpo-view .ax .ax-text span{margin-right:1px;cursor:pointer}
.arpo-view .ax .ax-text span:hover{color:var(--accent)}
.arpo-view .ax .ax-text span.ax-on{box-shadow:0 0 0 1.5px var(--ink);border-radius:2px}
.arpo-view .ax .ax-card,.arpo-view .ax .ax-word-card{border:1px solid var(--line);border-radius:8px;padding:8px 10px;font-size:12px}
.arpo-view .ax .ax-alternatives{display:grid;grid-template-columns:auto minmax(60px,110px) auto;gap:2px 8px;align-items:center;margin:5px 0 2px;justify-content:start}
.arpo-view .ax .ax-alternatives i{display:block;height:8px;background:var(--surface-2);border-radius:4px;overflow:hidden}
.arpo-view .ax .ax-alternatives i b{display:block;height:100%;background:var(--accent)}
.arpo-view .ax .ax-cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(290px,100%),1fr));gap:8px;margin-top:10px}
.arpo-view .ax .ax-cards p{margin:0 0 3px;font-weight:600;overflow-wrap:anywhere}
.arpo-view .ax .ax-cards p .ax-muted{font-weight:400}
.arpo-view .ax .ax-words{display:grid;grid-template-columns:minmax(48px,auto) minmax(40px,1fr) 44px minmax(60px,auto);gap:2px 8px;align-items:center}
.arpo-view .ax .ax-words code{background:none;padding:0;white-space:nowrap}
.arpo-view .ax .ax-words i{display:block;height:9px;background:var(--surface-2);border-radius:3px;overflow:hidden}
.arpo-view .ax .ax-words i b{display:block;height:100%;background:var(--line-strong)}
.arpo-view .ax .ax-words i.ax-right b{background:var(--right)}
.arpo-view .ax .ax-words i.ax-wrong b{background:var(--wrong)}
.arpo-view .ax .ax-words .ax-number{text-align:right}
.arpo-view .ax .ax-words span.ax-right{color:var(--right)}
.arpo-view .ax .ax-words span.ax-wrong{color:var(--wrong)}
.arpo-view .ax .ax-own code{outline:1.5px solid var(--accent);font-weight:700}
.arpo-view .ax .ax-decision{border:1px solid var(--line);border-radius:8px;padding:8px 12px}
.arpo-view .ax .ax-decision.ax-yes{border-color:var(--accent);background:var(--accent-soft)}
.arpo-view .ax .ax-chance{width:100%;max-width:250px;height:auto;display:block;margin:4px 0}
.arpo-view .ax .ax-chance text{font:10.5px var(--sans);fill:var(--ink-2)}
.arpo-view .ax .ax-chance .ax-strong{fill:var(--ink);font-weight:600}
.arpo-view .ax .ax-chance .ax-all{fill:var(--surface-2);stroke:var(--line-strong);stroke-width:.6}
.arpo-view .ax .ax-chance .ax-part{fill:var(--accent);opacity:.6}
.arpo-view .ax .ax-chance .ax-drew{stroke:var(--ink);stroke-width:2.5}
.arpo-view .ax .ax-compare{border:1px dashed var(--ink-2);border-radius:8px;padding:10px 12px;display:grid;gap:8px}
.arpo-view .ax .ax-compare .ax-text{max-height:120px}
.arpo-view .ax .ax-how ol{padding-left:18px;margin:8px 0;color:var(--ink-2)}
.arpo-view .ax .ax-how li{margin-bottom:6px;break-inside:avoid}
.arpo-view .ax .ax-how li b{color:var(--ink)}
.arpo-view .ax .ax-how li b.ax-accent{color:var(--accent)}
.arpo-view .ax .ax-how h3{font-size:15px;color:var(--ink);margin:0}
.arpo-view .ax .ax-result{border-radius:8px;background:var(--surface);border:0;padding:10px 12px;color:var(--ink-2)}
.arpo-view .ax .ax-big{font-size:26px;font-weight:700;line-height:1.15;color:var(--ink)}
.arpo-view .ax .ax-row{display:flex;flex-wrap:wrap;gap:6px 8px;align-items:center;margin-top:8px;font-size:12px;color:var(--ink-2)}
.arpo-view .ax .ax-play{margin-top:10px;border:1px solid var(--accent);border-radius:12px;padding:10px 12px;background:var(--accent-soft)}
.arpo-view .ax .ax-transport{display:flex;gap:6px;align-items:center}
.arpo-view .ax .ax-range{flex:1;position:relative;min-width:60px;padding-top:4px}
.arpo-view .ax .ax-ticks{display:flex;height:8px;gap:1px;padding:0 6px}
.arpo-view .ax .ax-ticks i{flex:1;border-radius:2px;background:var(--line-strong);opacity:.35}
.arpo-view .ax .ax-ticks i.ax-tick-branch{background:var(--accent)}
.arpo-view .ax .ax-ticks i.ax-tick-tool{background:var(--tool)}
.arpo-view .ax .ax-ticks i.ax-tick-write{background:var(--h5)}
.arpo-view .ax .ax-ticks i.ax-tick-score,.arpo-view .ax .ax-ticks i.ax-tick-advantage{background:var(--right)}
.arpo-view .ax .ax-ticks i.ax-past{opacity:1}
.arpo-view .ax .ax-policies{display:grid;grid-template-columns:auto minmax(90px,1fr) auto minmax(220px,auto);gap:6px 10px;align-items:center;margin:0 0 8px;padding:6px 10px;border:1px solid var(--line);border-radius:12px;background:var(--surface)}
.arpo-view .ax .ax-policies .ax-range{padding:0}
.arpo-view .ax .ax-policies p{margin:0;font-size:13px;line-height:1.35;font-variant-numeric:tabular-nums}
.arpo-view .ax .ax-caption{margin:8px 2px 0;font-size:15px;line-height:1.4;font-weight:500;min-height:2.8em;color:var(--ink)}
.arpo-view .ax .ax-tip{position:absolute;z-index:60;max-width:min(300px,calc(100% - 12px));padding:8px 11px;border-radius:8px;background:var(--raised);color:var(--ink);border:1px solid var(--line-strong);box-shadow:var(--shadow);font-size:12px;line-height:1.45;pointer-events:none}
.arpo-view .ax .ax-tip .ax-card{border:0;padding:0}
.arpo-view .ax .ax-tip pre{margin:5px 0;max-height:none;padding:0;background:none;color:var(--ink-2)}
.arpo-view .ax .ax-toast{position:absolute;left:50%;bottom:12px;transform:translateX(-50%);z-index:60;background:var(--ink);color:var(--paper);padding:7px 14px;border-radius:999px;box-shadow:var(--shadow)}
.arpo-view .ax .ax-spoken{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.arpo-view .ax details{margin-top:8px}
.arpo-view .ax summary{cursor:pointer;font-weight:500;min-height:28px;line-height:max(28px,var(--tap) - 4px);opacity:1;color:var(--ink-2);display:list-item}
.arpo-view .ax .ax-actions{border-top:1px solid var(--line);padding-top:8px;margin:0}
.arpo-view .ax .ax-table-scroll{overflow:auto;max-height:320px}
@container ax (min-width:1000px){.arpo-view .ax .ax-main:not(.ax-closed){grid-template-columns:minmax(0,1fr) 312px}.arpo-view .ax .ax-side{max-height:640px}}
@container ax (max-width:999px){.arpo-view .ax .ax-body{grid-template-columns:repeat(auto-fit,minmax(min(260px,100%),1fr))}.arpo-view .ax .ax-body>*{grid-column:1/-1}.arpo-view .ax .ax-body>.ax-field{grid-column:auto}.arpo-view .ax .ax-how ol{columns:250px;column-gap:34px}.arpo-view .ax .ax-fields{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(220px,100%),1fr));gap:10px 18px}}
@container ax (max-width:640px){.arpo-view .ax .ax-policies{grid-template-columns:auto minmax(90px,1fr) auto}.arpo-view .ax .ax-policies p{grid-column:1/-1}}
@container ax (max-width:480px){.arpo-view .ax .ax-minimap{width:40px}.arpo-view .ax .ax-question{font-size:16px}}
`;

/** The explorer's style sheet: every rule below the view's own class, none for bare elements of the page. */
export const explorerStyle = tokens + parts + controlStyle;
