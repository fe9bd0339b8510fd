// Charts of reports: strips of columns below each other on one axis, with a cursor that a pointer or the arrow keys move.
import { h, fill, fitCanvas } from './dom.js';
import { clamp } from './scale.js';
import { paintGrid, readPalette } from './paint.js';
import { columnAt } from './figures.js';

/** @typedef {import('./figures.js').Column} PlotColumn */
/** @typedef {import('./figures.js').Scale} PlotScale */
/**
 * @typedef {object} PlotStrip
 * @property {string} name @property {string} kind its colour
 * @property {PlotColumn[]} columns @property {PlotColumn[][]} others what they are compared with
 * @property {number} top the value of its upper edge
 * @property {(v: number) => string} text
 * @property {[number, string][]} [marks] values of note on the axis
 */

const stripHeight = 58;

/** How the lines of what a strip is compared with are drawn, and what that is called. */
const dashes = [[], [6, 3], [2, 2], [9, 3, 2, 3]];
export const dashNames = ['solid', 'dashed', 'dotted', 'dash and dot'];

/** Strips, the words of their axis below, and at the left their names with the values at the cursor. */
export class LeewardPlot extends HTMLElement {
  /** @param {string} name @param {PlotScale} scale @param {(v: number) => string} words of a value of the axis @param {PlotStrip[]} strips */
  show(name, scale, words, strips) {
    this.scale = scale;
    this.words = words;
    this.strips = strips;
    this.name = name;
    /** Places of the cursor: the middles of all columns. */
    this.stops = [...new Set(strips.flatMap((s) => s.columns.map((c) => (c.from + c.to) / 2)))].sort((a, b) => a - b);
    this.at = this.stops.length ? 0 : -1;
    this.values = strips.map(() => h('span', { class: 'value' }));
    this.canvas = h('canvas', { role: 'slider', tabindex: 0, 'aria-label': name, 'aria-valuemin': 0, 'aria-valuemax': Math.max(0, this.stops.length - 1),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e), onpointermove: (/** @type {PointerEvent} */ e) => this.point(e), onpointerdown: (/** @type {PointerEvent} */ e) => this.point(e) });
    this.canvas.style.height = `${strips.length * stripHeight + 22}px`;
    this.cursor = h('div', { class: 'soft' });
    fill(this, h('div', { class: 'gutter' }, strips.map((s, i) => h('div', { class: 'stripname' }, h('span', { class: 'figure' }, h('span', { class: `swatch k-${s.kind}` }), s.name), this.values?.[i])), this.cursor), h('div', { class: 'plot' }, this.canvas));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.write();
  }

  /** @param {PointerEvent} e */
  point(e) {
    if (!this.canvas || !this.stops?.length || !this.scale) return;
    const box = this.canvas.getBoundingClientRect();
    const u = clamp((e.clientX - box.left) / Math.max(1, box.width), 0, 1);
    let best = 0;
    this.stops.forEach((v, i) => { if (Math.abs((this.scale?.at(v) ?? 0) - u) < Math.abs((this.scale?.at(this.stops?.[best] ?? 0) ?? 0) - u)) best = i; });
    this.go(best);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const last = (this.stops?.length ?? 0) - 1;
    const at = this.at ?? 0;
    /** @type {Record<string, number>} */
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowUp: at + 1, ArrowDown: at - 1, PageUp: at + 10, PageDown: at - 10, Home: 0, End: last };
    if (!(e.key in to) || e.ctrlKey || e.metaKey || e.altKey || last < 0) return;
    e.preventDefault();
    this.go(clamp(to[e.key], 0, last));
  }

  /** @param {number} i */
  go(i) {
    this.at = i;
    this.write();
    this.draw();
  }

  /** The values at the cursor. */
  write() {
    const { strips, stops, canvas, words } = this;
    if (!strips || !stops || !canvas || !words || !this.cursor) return;
    const t = stops[this.at ?? -1];
    const told = strips.map((s, i) => {
      const value = (/** @type {PlotColumn[]} */ of) => s.text(columnAt(of, t)?.value ?? 0);
      const text = value(s.columns) + (s.others.length ? ` (${s.others.map(value).join(', ')})` : '');
      const face = this.values?.[i];
      if (face) face.textContent = t === undefined ? '' : text;
      return `${s.name} ${text}`;
    });
    const where = t === undefined ? 'nothing' : words(t);
    this.cursor.textContent = t === undefined ? '' : where;
    canvas.setAttribute('aria-valuenow', String(Math.max(0, this.at ?? 0)));
    canvas.setAttribute('aria-valuetext', `${where}: ${told.join(', ')}`);
  }

  draw() {
    const { strips, scale, canvas, words, stops } = this;
    if (!strips || !scale || !canvas || !words || !stops || !canvas.clientWidth) return;
    const p = readPalette(this);
    const { ctx, width, height } = fitCanvas(canvas);
    const x = (/** @type {number} */ v) => scale.at(v) * width;
    const high = strips.length * stripHeight;
    paintGrid(ctx, p, scale.ticks.map((t) => Math.min(width - 1, x(t))), high);
    ctx.font = `11px ${p.font}`;
    strips.forEach((s, i) => {
      const ground = (i + 1) * stripHeight - 1;
      const y = (/** @type {number} */ v) => ground - clamp(v / s.top, 0, 1) * (stripHeight - 12);
      const box = (/** @type {PlotColumn} */ c) => ({ left: x(c.from), wide: Math.max(1.5, x(c.to) - x(c.from)) });
      ctx.fillStyle = p.kinds[s.kind];
      for (const c of s.columns) {
        if (!c.value) continue;
        const { left, wide } = box(c);
        ctx.fillRect(left, Math.min(ground - 1.5, y(c.value)), wide + 0.4, Math.max(1.5, ground - y(c.value)));
      }
      s.others.forEach((other, kind) => {
        ctx.strokeStyle = p.ink;
        ctx.lineWidth = 1.25;
        ctx.setLineDash(dashes[kind] ?? []);
        ctx.beginPath();
        other.forEach((c, n) => {
          const { left, wide } = box(c);
          if (n === 0 || Math.abs(other[n - 1].to - c.from) > 1e-9) ctx.moveTo(left, y(c.value));
          else ctx.lineTo(left, y(c.value));
          ctx.lineTo(left + wide, y(c.value));
        });
        ctx.stroke();
        ctx.setLineDash([]);
      });
      ctx.fillStyle = p.rule;
      ctx.fillRect(0, ground, width, 1);
      this.paintMarks(ctx, p, s, x, i * stripHeight, width);
      if (!s.marks) paintPlate(ctx, p, s.text(s.top), width - 4, i * stripHeight + 9, 'right');
    });
    this.paintWords(ctx, p, x, width, height);
    if (this.at === undefined || this.at < 0) return;
    ctx.fillStyle = p.accent;
    ctx.fillRect(clamp(Math.round(x(stops[this.at])), 0, width - 2), 0, 2, high);
  }

  /** Values of note: a line, and its words on the side that has space, on a line of their own. @param {CanvasRenderingContext2D} ctx @param {import('./paint.js').Palette} p @param {PlotStrip} s @param {(v: number) => number} x @param {number} top @param {number} width */
  paintMarks(ctx, p, s, x, top, width) {
    (s.marks ?? []).forEach(([value, words], n) => {
      const at = clamp(x(value), 0, width - 1);
      ctx.fillStyle = p.ink;
      ctx.fillRect(Math.round(at), top + 2, 1, stripHeight - 3);
      paintPlate(ctx, p, words, at > width / 2 ? at - 4 : at + 5, top + 9 + 15 * n, at > width / 2 ? 'right' : 'left');
    });
  }

  /** @param {CanvasRenderingContext2D} ctx @param {import('./paint.js').Palette} p @param {(v: number) => number} x @param {number} width @param {number} height */
  paintWords(ctx, p, x, width, height) {
    let free = -Infinity;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    ctx.fillStyle = p.soft;
    for (const t of this.scale?.ticks ?? []) {
      const text = this.words?.(t) ?? '';
      const w = ctx.measureText(text).width;
      const left = clamp(x(t) - w / 2, 1, width - w - 1);
      if (left < free) continue;
      ctx.fillText(text, left, height - 10);
      free = left + w + 12;
    }
  }
}

/** Words that can be read on whatever lies below. @param {CanvasRenderingContext2D} ctx @param {import('./paint.js').Palette} p @param {string} words @param {number} x @param {number} y @param {'left' | 'right'} align */
function paintPlate(ctx, p, words, x, y, align) {
  const w = ctx.measureText(words).width;
  ctx.globalAlpha = 0.85;
  ctx.fillStyle = p.card;
  ctx.fillRect(align === 'right' ? x - w - 3 : x - 3, y - 7, w + 6, 14);
  ctx.globalAlpha = 1;
  ctx.textAlign = align;
  ctx.textBaseline = 'middle';
  ctx.fillStyle = p.soft;
  ctx.fillText(words, x, y);
}
