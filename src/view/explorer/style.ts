/** The explorer's style sheet: the page's own colours, so that light and dark need no switch. */
export const explorerStyle = `
.arpo-explorer{font:13px/1.45 system-ui,sans-serif;max-width:100%}
.arpo-explorer .arpo-bar{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:center;margin:4px 0;border:0;padding:0}
.arpo-explorer fieldset.arpo-bar{border-top:1px solid rgba(128,128,128,.35);padding-top:4px}
.arpo-explorer label{display:inline-flex;align-items:center;gap:4px}
.arpo-explorer select,.arpo-explorer button{font:inherit;color:inherit;background:rgba(128,128,128,.12);border:1px solid rgba(128,128,128,.5);border-radius:4px;padding:1px 6px}
.arpo-explorer option{color:#222;background:#fff}
.arpo-explorer input[type=range]{width:110px}
.arpo-explorer .arpo-count{display:block;font-weight:600;margin:4px 0}
.arpo-explorer .arpo-scroll{position:relative;overflow:auto;border:1px solid rgba(128,128,128,.35);border-radius:4px}
.arpo-explorer canvas{position:sticky;left:0;top:0;display:block;cursor:pointer}
.arpo-explorer canvas:focus-visible,.arpo-explorer .arpo-text:focus-visible{outline:2px solid #3b82c4;outline-offset:-2px}
.arpo-explorer .arpo-legend i{display:inline-block;width:90px;height:9px;vertical-align:baseline}
.arpo-explorer .arpo-legend{opacity:.85;margin:3px 0}
.arpo-explorer p,.arpo-explorer h4{margin:4px 0}
.arpo-explorer pre{white-space:pre-wrap;overflow-wrap:anywhere;background:rgba(128,128,128,.1);padding:4px 6px;margin:4px 0;max-height:160px;overflow:auto}
.arpo-explorer .arpo-text{white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.7 ui-monospace,monospace;max-height:260px;overflow:auto;border:1px solid rgba(128,128,128,.35);border-radius:4px;padding:4px 6px}
.arpo-explorer .arpo-text span{border-radius:2px}
.arpo-explorer .arpo-result{border-bottom:2px dotted #5f9e8f}
.arpo-explorer .arpo-on{outline:2px solid #3b82c4}
.arpo-explorer .arpo-token{min-height:1.5em;margin:3px 0;white-space:pre-wrap}
.arpo-explorer table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:3px 0}
.arpo-explorer caption{text-align:left;font-weight:600}
.arpo-explorer th,.arpo-explorer td{text-align:left;padding:1px 10px 1px 0;border-bottom:1px solid rgba(128,128,128,.25)}
.arpo-explorer .arpo-alternatives i{display:inline-block;height:9px;background:#3b82c4}
.arpo-explorer .arpo-columns{display:flex;flex-wrap:wrap;gap:12px}
.arpo-explorer .arpo-columns>div{flex:1 1 300px;min-width:0}
.arpo-explorer .arpo-wide{overflow:auto}
`;
