#include "analysis/memory_page.h"

namespace xsigma::profiler::analysis {

const char kPageStyle[] = R"css(
:root { color-scheme: light dark; --page: #fff; --ink: #1c2126; --soft: #5b6570; --line: #dfe3e8; --card: #f6f7f9; --accent: #2563a8; --alarm: #c0262d; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15181c; --ink: #e8eaed; --soft: #9aa4af; --line: #333a42; --card: #1e2329; --accent: #7fb2ea; --alarm: #ff7b72; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 28px 24px 60px; }
h1 { font-size: 25px; line-height: 1.25; margin: 0 0 8px; font-weight: 650; }
h2 { font-size: 18px; margin: 34px 0 4px; }
p { margin: 4px 0 10px; max-width: 85ch; }
.soft { color: var(--soft); }
.alarm { border-left: 4px solid var(--alarm); padding: 8px 12px; background: var(--card); border-radius: 0 6px 6px 0; max-width: none; }
.bar { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; margin: 18px 0 8px; }
.switch { display: inline-flex; border: 1px solid var(--line); border-radius: 7px; overflow: hidden; }
.switch button { font: inherit; font-size: 14px; padding: 5px 14px; border: 0; background: var(--page); color: var(--ink); cursor: pointer; }
.switch button + button { border-left: 1px solid var(--line); }
.switch button[aria-pressed=true] { background: var(--accent); color: var(--page); }
.chart { position: relative; background: var(--card); border-radius: 10px; padding: 10px 10px 6px; }
.chart svg { display: block; width: 100%; height: 400px; outline-offset: 3px; }
.chart text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .title { fill: var(--ink); font-weight: 600; }
.chart .top { fill: none; stroke: var(--ink); stroke-width: 1; opacity: .55; }
.chart .peak { fill: var(--page); stroke: var(--ink); stroke-width: 2; }
.chart .oom { stroke: var(--alarm); stroke-width: 1.5; stroke-dasharray: 5 3; }
.chart text.oomtext { fill: var(--alarm); font-weight: 600; }
.chart .cursor { stroke: var(--ink); stroke-width: 1; visibility: hidden; }
.tip { position: absolute; pointer-events: none; visibility: hidden; background: var(--page); border: 1px solid var(--line); border-radius: 8px;
  box-shadow: 0 4px 14px rgb(0 0 0 / .18); padding: 8px 12px; font-size: 13px; z-index: 1; }
.tip table { margin: 4px 0 0; } .tip td { border: 0; padding: 1px 10px 1px 0; white-space: nowrap; } .tip b { font-weight: 650; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13.5px; margin: 10px 4px 0; padding: 0; list-style: none; }
.legend li { overflow-wrap: anywhere; }
.key { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 7px; vertical-align: -1px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; margin: 8px 0; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px; }
th, td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.path { overflow-wrap: anywhere; width: 60%; }
td.path span { color: var(--soft); }
.share { display: inline-block; width: 90px; height: 8px; border-radius: 4px; background: var(--line); vertical-align: 1px; overflow: hidden; }
.share i { display: block; height: 100%; background: var(--accent); }
summary { cursor: pointer; color: var(--accent); margin: 8px 0; }
code { font: 13px ui-monospace, Menlo, Consolas, monospace; }
)css";

const char kPageScript[] = R"js(
'use strict';
const colours = ['#4e79a7', '#f28e2b', '#59a14f', '#e15759', '#76b7b2', '#edc948', '#b07aa1', '#ff9da7', '#9c755f', '#8cd17d'];
const grey = '#9aa0a6';
const page = JSON.parse(document.getElementById('data').textContent);
const svgNode = (tag, attributes, parent) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(node);
  return node;
};
const htmlNode = (tag, text, parent) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
};
const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const unitOf = bytes => Math.max(0, Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
const bytesText = bytes => {
  if (bytes < 1024) return bytes + (bytes === 1 ? ' byte' : ' bytes');
  const u = unitOf(bytes * 1024 / 1023.95);  // no "1024.0 KiB"
  return (bytes / 1024 ** u).toFixed(1) + ' ' + units[u];
};
const clocks = [['µs', 1], ['ms', 1e3], ['s', 1e6]];
const clockOf = us => clocks[us < 1e3 ? 0 : us < 1e6 ? 1 : 2];
const trimmed = (value, digits) => String(+value.toFixed(digits));
const timeText = us => { const [name, size] = clockOf(us); return trimmed(us / size, 3) + ' ' + name; };
const short = (text, most) => text.length > most ? '…' + text.slice(text.length - most + 1) : text;

// What is drawn of many rows: in a pixel that has several, the largest; after it the last one.
function columns(times, rows, x) {
  const total = rows.map(row => row.reduce((a, b) => a + b, 0)), seen = [];
  for (let i = 0; i < rows.length;) {
    const pixel = Math.floor(x(times[i]));
    let most = i, last = i;
    for (; last + 1 < rows.length && Math.floor(x(times[last + 1])) === pixel; ++last) if (total[last + 1] > total[most]) most = last + 1;
    if (last - i < 2) {
      for (let j = i; j <= last; ++j) seen.push([x(times[j]), rows[j]]);
    } else {
      seen.push([pixel, rows[most]]);
      if (most !== last) seen.push([pixel + 1, rows[last]]);
    }
    i = last + 1;
  }
  return seen;
}

function draw(chart, device, mode) {
  const view = device[mode];
  const times = device.times, rows = view.sizes, layers = view.names.length;
  const peak = Math.max(1, device.peak.bytes), span = Math.max(1e-3, page.duration_us);
  const colour = i => view.names[i] === view.grey ? grey : colours[i % colours.length];
  chart.querySelector('svg')?.remove();
  chart.querySelector('.tip').style.visibility = 'hidden';
  const width = chart.clientWidth - 20, height = 400, left = 78, right = 18, top = 34, bottom = 44;
  const x = us => left + (width - left - right) * Math.min(1, us / span);
  const y = bytes => height - bottom - (height - top - bottom) * bytes / (peak * 1.06);
  const svg = svgNode('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', tabindex: 0, 'aria-label': device.sentence});
  chart.prepend(svg);

  const step = 2 ** Math.max(0, Math.ceil(Math.log2(peak / 6)));
  const unit = unitOf(Math.floor(peak * 1.06 / step) * step);  // of the highest tick: no "1024 KiB"
  for (let tick = 0; tick <= peak * 1.06; tick += step) {
    svgNode('line', {class: 'grid', x1: left, x2: width - right, y1: y(tick), y2: y(tick)}, svg);
    const label = svgNode('text', {x: left - 9, y: y(tick) + 4, 'text-anchor': 'end'}, svg);
    label.textContent = trimmed(tick / 1024 ** unit, 3) + ' ' + units[unit];
  }
  const [clock, size] = clockOf(span);
  let apart = 10 ** Math.floor(Math.log10(span / 4));
  for (const factor of [2, 2.5, 2]) if (span / apart > 9) apart *= factor;
  for (let i = 0; i * apart <= span * 1.0001; ++i) {
    svgNode('line', {class: 'grid', x1: x(i * apart), x2: x(i * apart), y1: height - bottom, y2: height - bottom + 5}, svg);
    const label = svgNode('text', {x: x(i * apart), y: height - bottom + 19, 'text-anchor': 'middle'}, svg);
    label.textContent = trimmed(i * apart / size, 3) + ' ' + clock;
  }
  const caption = (text, at, anchor) => { svgNode('text', {...at, 'text-anchor': anchor, class: 'title'}, svg).textContent = text; };
  caption('bytes allocated', {x: 6, y: 16}, 'start');
  caption('time since the start', {x: width - right, y: height - 6}, 'end');

  const drawn = columns(times, rows, x), base = new Float64Array(drawn.length), end = x(span);
  const edges = drawn.map(([from], i) => [from.toFixed(1), (i + 1 < drawn.length ? drawn[i + 1][0] : end).toFixed(1)]);
  for (let layer = 0; layer < layers; ++layer) {
    let upper = '', lower = '', any = false;
    for (let i = 0; i < drawn.length; ++i) {
      const from = base[i], to = from + drawn[i][1][layer + 1], [a, b] = edges[i];
      any = any || to > from;
      base[i] = to;
      upper += `L${a} ${y(to).toFixed(1)}H${b}`;
      lower = `L${b} ${y(from).toFixed(1)}H${a}` + lower;
    }
    if (any) svgNode('path', {d: 'M' + upper.slice(1) + lower + 'Z', fill: colour(layer), 'fill-opacity': .88}, svg);
  }
  if (drawn.length < width / 2) {
    const line = edges.map(([a, b], i) => `L${a} ${y(base[i]).toFixed(1)}H${b}`).join('');
    svgNode('path', {class: 'top', d: 'M' + line.slice(1)}, svg);
  }

  for (const oom of device.out_of_memory) {
    svgNode('line', {class: 'oom', x1: x(oom.time_us), x2: x(oom.time_us), y1: top - 10, y2: height - bottom}, svg);
  }
  if (device.out_of_memory.length) {
    const at = x(device.out_of_memory[0].time_us), before = at > width / 2;
    const many = device.out_of_memory_count;
    svgNode('text', {class: 'oomtext', x: before ? at - 6 : at + 6, y: top - 16, 'text-anchor': before ? 'end' : 'start'}, svg).textContent =
        many > 1 ? `out of memory, ${many} times` : 'out of memory';
  }
  if (device.peak.bytes) {
    const at = x(device.peak.time_us), before = at > width * .7;
    svgNode('circle', {class: 'peak', cx: at, cy: y(device.peak.bytes), r: 4.5}, svg);
    caption('peak ' + bytesText(device.peak.bytes), {x: before ? at - 10 : at + 10, y: y(device.peak.bytes) - 5}, before ? 'end' : 'start');
  }

  const legend = chart.parentNode.querySelector('.legend');
  legend.replaceChildren();
  for (let i = layers - 1; i >= 0; --i) {
    if (!rows.some(row => row[i + 1])) continue;
    const item = htmlNode('li', undefined, legend);
    const key = htmlNode('span', undefined, item);
    key.className = 'key';
    key.style.background = colour(i);
    item.append(short(view.names[i], 90));
    item.title = view.names[i];
  }
  listen(chart, svg, {device, view, times, rows, layers, colour, span, left, right, width, x, top, bottom: height - bottom});
}

function listen(chart, svg, c) {
  const cursor = svgNode('line', {class: 'cursor', y1: c.top, y2: c.bottom}, svg);
  const tip = chart.querySelector('.tip');
  const hide = () => { cursor.style.visibility = tip.style.visibility = 'hidden'; };
  let row = 0;
  const show = us => {
    let low = 0, high = c.times.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (c.times[middle] <= us) low = middle; else high = middle - 1; }
    row = low;
    const at = c.x(us), values = c.rows[low].slice(1);
    cursor.setAttribute('x1', at);
    cursor.setAttribute('x2', at);
    tip.replaceChildren();
    htmlNode('b', bytesText(values.reduce((a, b) => a + b, 0)), tip);
    tip.append(' at ' + timeText(us));
    const near = c.device.out_of_memory.find(oom => Math.abs(c.x(oom.time_us) - at) < 5);
    if (near) htmlNode('div', `out of memory: ${bytesText(near.size)} asked for`, tip).style.color = 'var(--alarm)';
    const table = htmlNode('table', undefined, tip);
    for (let i = c.layers - 1; i >= 0; --i) {
      if (!values[i]) continue;
      const line = htmlNode('tr', undefined, table), name = htmlNode('td', undefined, line);
      const key = htmlNode('span', undefined, name);
      key.className = 'key';
      key.style.background = c.colour(i);
      name.append(short(c.view.names[i], 48));
      htmlNode('td', bytesText(values[i]), line).className = 'number';
    }
    cursor.style.visibility = tip.style.visibility = 'visible';
    const room = chart.clientWidth - tip.offsetWidth - 12;
    tip.style.left = Math.max(6, at + 24 > room ? at - tip.offsetWidth - 4 : at + 24) + 'px';
    tip.style.top = '40px';
  };
  svg.addEventListener('pointermove', event => {
    const part = (event.clientX - svg.getBoundingClientRect().left - c.left) / (c.width - c.left - c.right);
    if (part < 0 || part > 1) hide(); else show(part * c.span);
  });
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('blur', hide);
  svg.addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (by) { event.preventDefault(); show(c.times[Math.max(0, Math.min(c.times.length - 1, row + by))]); }
  });
}

page.devices.forEach((device, index) => {
  const section = document.getElementById('device' + index), chart = section.querySelector('.chart');
  const categories = device.by_category;  // nothing to see where nobody named any
  const named = categories.names.some((name, i) => name !== categories.grey && categories.sizes.some(row => row[i + 1] > 0));
  let mode = named ? 'by_category' : 'by_scope';
  const buttons = section.querySelectorAll('.switch button');
  const redraw = () => { buttons.forEach(each => each.setAttribute('aria-pressed', each.value === mode)); draw(chart, device, mode); };
  buttons.forEach(each => each.addEventListener('click', () => { mode = each.value; redraw(); }));
  window.addEventListener('resize', redraw);
  if (location.hash === '#scopes') mode = 'by_scope';
  redraw();
});
)js";

}  // namespace xsigma::profiler::analysis
