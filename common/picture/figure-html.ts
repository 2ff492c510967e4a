import { packedPackage } from "#platform/module-files";
import { randomUUID } from "#platform/uuid";
import { narrowLayout } from "./narrow-layout.js";
import { grey } from "./grey.js";
import { usualColours } from "./traces.js";

let packed: string | undefined;

/** plotly.js for a page, packed: about 0.65 MB of base64. */
export function packedLibrary(): string {
  return (packed ??= packedPackage("plotly.js-cartesian-dist-min"));
}

/** The element that carries the packed library in a page. */
export function libraryHtml(): string {
  return `<script type="text/plain" class="arpo-plotly">${packedLibrary()}</script>`;
}

// Runs in the page. The library is looked for as a global, then as the packed copy that some figure
// of the page carries; while neither is there, the static picture stays.
const program = `(function(id){
const root=document.getElementById(id);if(!root)return;
const figure=JSON.parse(root.querySelector("[data-figure]").textContent);
async function unpack(text){
const bytes=Uint8Array.from(atob(text),c=>c.charCodeAt(0));
const stream=new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
const script=document.createElement("script");script.textContent=await new Response(stream).text();
document.head.append(script);return globalThis.Plotly;}
function library(){
if(globalThis.Plotly)return Promise.resolve(globalThis.Plotly);
if(globalThis.arpoPlotly)return globalThis.arpoPlotly;
const packed=document.querySelector("script.arpo-plotly");
return packed?globalThis.arpoPlotly=unpack(packed.textContent):Promise.resolve();}
async function draw(){
const plotly=await library();if(!plotly)return;
const picture=root.querySelector("[data-picture]");
const place=document.createElement("div");place.style.width="100%";root.append(place);
const color=getComputedStyle(root).color,layout=(${narrowLayout.toString()})(figure.layout,place.clientWidth);
const clear="rgba(0,0,0,0)";
const grid={gridcolor:"${grey(0.25)}",zerolinecolor:"${grey(0.5)}"};
const shown={paper_bgcolor:clear,plot_bgcolor:clear,margin:{t:layout.title?50:24,r:20,b:50,l:60},
colorway:${JSON.stringify(usualColours)},
...layout,font:{color,...layout.font}};
for(const axis of new Set(["xaxis","yaxis",...Object.keys(layout).filter(k=>/^[xy]axis/.test(k))]))
shown[axis]={...grid,...layout[axis]};
try{await plotly.newPlot(place,figure.data,shown,{responsive:true,displaylogo:false,...figure.config});
picture.remove();}catch(error){place.remove();console.error(error);}}
if(document.readyState==="loading")addEventListener("DOMContentLoaded",draw,{once:true});else draw();
})`;

/** JSON inside a script element: nothing in it can end the element. */
function embedded(json: unknown): string {
  return JSON.stringify(json).replace(/</g, "\\u003c");
}

/** A figure as HTML that needs nothing else: a picture, and the program that brings it to life. */
export function figureHtml(figure: unknown, picture: string, library = libraryHtml()): string {
  const id = `figure-${randomUUID()}`;
  return (
    `<div id="${id}"><div data-picture>${picture}</div>` +
    `<script type="application/json" data-figure>${embedded(figure)}</script>` +
    `${library}<script>${program}("${id}")</script></div>`
  );
}
