// Charts above the lanes: the axis, the strip of the fleet, replicas, and capacity by region. All share one axis, one cursor and
// one brush.
import { h, fill, fitCanvas } from './dom.js';
import { axisTicks, numberText, roundUp, slideView, viewBetween, zoomView, clamp } from './scale.js';
import { paintGrid, paintSteps, paintBox, placer, readPalette } from './paint.js';

/** @typedef {import('./state.js').Session} ChartSession */

/**
 * Pointers on a canvas that shows time: drag to zoom, wheel with Ctrl to zoom, sideways to move, double click for all.
 * @param {HTMLCanvasElement} canvas
 * @param {ChartSession} s
 * @param {(t: number, y: number, near: number) => void} press a click, at an instant and a height in pixels
 * @param {(t: number | null, y: number, near: number) => void} [over] a pointer above it; null: it went away
 */
export function pointable(canvas, s, press, over) {
  /** @param {{clientX: number}} e */
  const place = (e) => {
    const box = canvas.getBoundingClientRect();
    return s.view.from + clamp((e.clientX - box.left) / Math.max(1, box.width), 0, 1) * (s.view.to - s.view.from);
  };
  /** @param {{clientX: number, clientY: number}} e @param {(t: any, y: number, near: number) => void} then */
  const tell = (e, then) => {
    const box = canvas.getBoundingClientRect();
    const u = place(e);
    const pixel = (s.view.to - s.view.from) / Math.max(1, box.width);
    then(s.axis.instant(u), e.clientY - box.top, s.axis.instant(u + 6 * pixel) - s.axis.instant(u - 6 * pixel));
  };
  let from = -1;
  let startX = 0;
  canvas.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return;
    from = place(e);
    startX = e.clientX;
    if (e.pointerType === 'mouse') canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener('pointermove', (e) => {
    if (from >= 0 && e.pointerType === 'mouse' && Math.abs(e.clientX - startX) > 4) {
      s.brush = viewBetween(from, place(e));
      s.changed('hover');
      return;
    }
    s.hover = s.axis.instant(place(e));
    s.changed('hover');
    if (over) tell(e, over);
  });
  const cancel = () => {
    from = -1;
    s.brush = null;
    s.changed('hover');
  };
  canvas.addEventListener('pointerup', (e) => {
    const brush = s.brush;
    const pressed = from >= 0 && Math.abs(e.clientX - startX) <= 4;
    cancel();
    if (brush) s.look(brush);
    else if (pressed) tell(e, press);
  });
  canvas.addEventListener('pointercancel', cancel);
  canvas.addEventListener('pointerleave', (e) => {
    s.hover = null;
    s.changed('hover');
    over?.(null, 0, 0);
    if (!canvas.hasPointerCapture(e.pointerId)) from = -1;
  });
  canvas.addEventListener('dblclick', () => s.look({ from: 0, to: 1 }));
  canvas.addEventListener('wheel', (e) => {
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      s.look(zoomView(s.view, Math.exp(clamp(e.deltaY, -100, 100) / 200), place(e)));
    } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) {
      e.preventDefault();
      s.look(slideView(s.view, (e.deltaX || e.deltaY) / Math.max(1, canvas.clientWidth)));
    }
  }, { passive: false });
}

/** The cursor, the pointer's line and the brush over a canvas. @param {CanvasRenderingContext2D} ctx @param {import('./paint.js').Palette} p @param {ChartSession} s @param {number} width @param {number} height */
export function paintCursor(ctx, p, s, width, height) {
  const at = placer(s.axis, s.view, width);
  if (s.brush) {
    const x = ((s.brush.from - s.view.from) / (s.view.to - s.view.from)) * width;
    const w = ((s.brush.to - s.brush.from) / (s.view.to - s.view.from)) * width;
    ctx.fillStyle = p.accent;
    ctx.globalAlpha = 0.18;
    ctx.fillRect(x, 0, w, height);
    ctx.globalAlpha = 1;
  }
  if (s.now !== undefined) {
    ctx.fillStyle = p.paper;
    ctx.globalAlpha = 0.6;
    ctx.fillRect(at(s.now), 0, Math.max(0, width - at(s.now)), height);
    ctx.globalAlpha = 1;
  }
  if (s.hover !== null) {
    ctx.fillStyle = p.soft;
    ctx.globalAlpha = 0.5;
    ctx.fillRect(Math.round(at(s.hover)), 0, 1, height);
    ctx.globalAlpha = 1;
  }
  ctx.fillStyle = p.accent;
  ctx.fillRect(Math.round(at(s.cursor)) - 1, 0, 2, height);
}

/** A part of the page with a name at the left and a canvas of the same axis. */
class TimeChart extends HTMLElement {
  /** @param {ChartSession} s @param {string} name @param {number} height */
  show(s, name, height) {
    this.s = s;
    this.canvas = h('canvas', { role: 'img', 'aria-label': name });
    this.canvas.style.height = `${height}px`;
    this.head = h('div', { class: 'gutter' });
    fill(this, this.head, h('div', { class: 'plot' }, this.canvas));
    s.subscribe(() => this.draw());
    pointable(this.canvas, s, (t, y) => this.press(t, y), (t, y) => this.over(t, y));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  /** @param {number} t @param {number} _y */
  press(t, _y) { this.s?.go(t); }

  /** @param {number | null} _t @param {number} _y */
  over(_t, _y) {}

  /** What is drawn with: colours, the canvas at its present size, and where instants lie on it. @param {ChartSession} s @param {HTMLCanvasElement} canvas */
  plot(s, canvas) {
    const { ctx, width, height } = fitCanvas(canvas);
    return { p: readPalette(this), ctx, width, height, at: placer(s.axis, s.view, width) };
  }

  draw() {}
}

/** The words of the axis. */
export class LeewardAxis extends TimeChart {
  /** @param {ChartSession} s */
  start(s) {
    this.show(s, 'Time', 26);
    if (this.head) fill(this.head, h('span', { class: 'soft' }, 'time'));
  }

  draw() {
    if (!this.s || !this.canvas) return;
    const { s } = this;
    const { p, ctx, width, height, at } = this.plot(s, this.canvas);
    ctx.font = `11px ${p.font}`;
    ctx.textBaseline = 'middle';
    let free = -Infinity;
    for (const t of ticksOf(s, width)) {
      const words = s.clockText(t);
      const w = ctx.measureText(words).width;
      const x = clamp(at(t) - w / 2, 1, width - w - 1);
      ctx.fillStyle = p.rule;
      ctx.fillRect(Math.round(at(t)), height - 5, 1, 5);
      if (x < free) continue;
      ctx.fillStyle = p.soft;
      ctx.fillText(words, x, height / 2 - 2);
      free = x + w + 10;
    }
    paintCursor(ctx, p, s, width, height);
    const shown = s.hover ?? s.cursor;
    const words = s.clockText(shown);
    ctx.font = `600 11px ${p.font}`;
    const w = ctx.measureText(words).width + 10;
    const x = clamp(at(shown) - w / 2, 0, width - w);
    ctx.fillStyle = p.accent;
    ctx.fillRect(x, 2, w, height - 9);
    ctx.fillStyle = p.card;
    ctx.fillText(words, x + 5, height / 2 - 2);
  }
}

/** @param {ChartSession} s @param {number} width */
export function ticksOf(s, width) { return axisTicks(s.axis, s.view, s.model.instants, 84 / Math.max(84, width), s.offset); }

const tallestLine = 18;

/** Clusters by time: the worst that a cluster has, or several where there are many. */
export class LeewardFleet extends TimeChart {
  /** @param {ChartSession} s */
  start(s) {
    this.groups = 0;
    this.show(s, '', this.heightFor(s));
    this.label();
    s.subscribe((changes) => { if (changes.has('rows')) this.label(); });
  }

  /** @param {ChartSession} s */
  heightFor(s) { return clamp(s.model.run.clusters.length * 12, 24, 108); }

  label() {
    if (!this.s || !this.head || !this.canvas) return;
    const { clusters, model } = this.s;
    this.canvas.style.height = `${this.heightFor(this.s)}px`;
    if (this.labelled === clusters.join()) return;
    this.labelled = clusters.join();
    const failing = clusters.filter((c) => model.run.clusters[c].tracks.some((t) => t.bars.some((b) => model.kind(b) === 'bad'))).length;
    const words = clusters.length === 1 ? model.places.replace(/s$/, '') : model.places;
    this.canvas.setAttribute('aria-label', `Fleet over time: ${clusters.length} ${words}, ${failing} of them not Ready or silent at some time. The lanes below tell of each.`);
    fill(this.head, h('strong', {}, 'Fleet'), h('span', { class: 'soft' }, ` ${numberText(clusters.length)} ${words}`), (this.hint = h('span', { class: 'hint' })));
  }

  /** @param {number} y @returns {number[]} */
  clustersAt(y) {
    if (!this.s || !this.canvas) return [];
    const { clusters } = this.s;
    const lines = Math.min(clusters.length, Math.floor(this.canvas.clientHeight / 3));
    const size = Math.ceil(clusters.length / Math.max(1, lines));
    const count = Math.ceil(clusters.length / size);
    const line = Math.floor(y / Math.min(tallestLine, this.canvas.clientHeight / Math.max(1, count)));
    return clusters.slice(line * size, line * size + size);
  }

  /** @param {number | null} t @param {number} y */
  over(t, y) {
    if (!this.s || !this.hint) return;
    const names = t === null ? [] : this.clustersAt(y).map((c) => this.s?.model.run.clusters[c].name);
    this.hint.textContent = names.length > 1 ? `${names[0]} … ${names[names.length - 1]}` : names[0] ?? '';
  }

  /** @param {number} t @param {number} y */
  press(t, y) {
    const [cluster] = this.clustersAt(y);
    this.s?.go(t);
    if (cluster !== undefined) this.s?.select(`c${cluster}`);
  }

  draw() {
    if (!this.s || !this.canvas) return;
    const { s } = this;
    const { p, ctx, width, height, at } = this.plot(s, this.canvas);
    paintGrid(ctx, p, ticksOf(s, width).map(at), height);
    const lines = Math.min(s.clusters.length, Math.floor(height / 3));
    const size = Math.ceil(s.clusters.length / Math.max(1, lines));
    const count = Math.ceil(s.clusters.length / size);
    const tall = Math.min(tallestLine, height / Math.max(1, count));
    for (let line = 0; line < count; line++) {
      const y = line * tall;
      const h1 = Math.max(2, tall - (tall > 5 ? 2 : 0.5));
      ctx.fillStyle = p.kinds.good;
      ctx.globalAlpha = 0.22;
      ctx.fillRect(0, y, width, h1);
      ctx.globalAlpha = 1;
      /** @type {[number, string, number, number][]} */
      const boxes = [];
      for (const c of s.clusters.slice(line * size, line * size + size)) {
        for (const t of s.model.run.clusters[c].tracks) {
          for (const b of t.bars) {
            const kind = s.model.kind(b);
            if (kind === 'good' || kind === 'placed' || kind === 'mark' || kind === 'warning') continue;
            const x = at(b[1]);
            const end = b[2] < 0 ? width : at(b[2]);
            if (end >= 0 && x <= width) boxes.push([b[0], kind, Math.max(x, -2), Math.max(1.5, Math.min(end, width + 2) - Math.max(x, -2))]);
          }
        }
      }
      boxes.sort((a, b) => a[0] - b[0]);
      const painted = new Set(); // of several that cannot be told apart, one
      for (const [, kind, x, w] of boxes) {
        const box = `${kind} ${Math.round(x)} ${Math.round(w)}`;
        if (!painted.has(box)) paintBox(ctx, p, kind, x, y, w, h1);
        painted.add(box);
      }
    }
    paintCursor(ctx, p, s, width, height);
  }
}

/** What a chart of replicas, or of pods, shows: a dashed line, two areas, and on top of one of these or of the line a third. */
export const charted = {
  replicas: { title: 'Replicas', line: 'placed', area: 'available', front: 'evicting', top: 'unschedulable', base: 'available' },
  pods: { title: 'Pods', line: 'running', area: 'ready', front: 'terminating', top: 'pending', base: 'running' },
};

/** Replicas, or pods, over time. */
export class LeewardReplicas extends TimeChart {
  /** The instant up to which figures are known. @type {number | undefined} */
  known;

  /** @param {ChartSession} s @param {'replicas' | 'pods'} [of] */
  start(s, of = 'replicas') {
    this.of = of;
    const { title, line, area, front, top } = charted[of];
    this.show(s, `${title} over time`, 84);
    /** @type {Record<string, HTMLElement>} */
    this.values = {};
    const figure = (/** @type {string} */ name, /** @type {string} */ kind) => {
      const value = h('span', { class: 'value' });
      if (this.values) this.values[name] = value;
      return h('div', { class: 'figure' }, h('span', { class: `swatch k-${kind}` }), name, value);
    };
    if (this.head) fill(this.head, h('strong', {}, title), figure(line, 'line'), figure(area, 'healthy'), figure(front, front), figure(top, top));
  }

  draw() {
    if (!this.s || !this.canvas || !this.values || !this.of) return;
    const { s } = this;
    const { title, line, area, front, top: above, base } = charted[this.of];
    const r = /** @type {Record<string, number[]> & {at: number[]}} */ (this.of === 'pods' ? s.model.run.podStates : s.model.run.replicas);
    const { p, ctx, width, height, at } = this.plot(s, this.canvas);
    paintGrid(ctx, p, ticksOf(s, width).map(at), height);
    if (this.known !== r.at[r.at.length - 1]) { // a live run grows
      this.known = r.at[r.at.length - 1];
      this.top = roundUp(r.at.reduce((most, _, i) => Math.max(most, r[line][i], r[front][i], r[base][i] + r[above][i]), 1));
    }
    const top = this.top ?? 1;
    const y = (/** @type {number} */ v) => height - 1 - (v / top) * (height - 14);
    const first = Math.max(0, s.model.row(r, s.axis.instant(s.view.from)));
    paintSteps(ctx, { at: r.at, values: r[area] }, at, y, width, p.available, { area: true, alpha: 0.5, first });
    paintSteps(ctx, { at: r.at, values: r[front] }, at, y, width, p.kinds[front], { area: true, alpha: 0.75, first });
    paintSteps(ctx, { at: r.at, values: r[above], base: r[base] }, at, y, width, p.kinds[above], { area: true, alpha: 0.9, first });
    paintSteps(ctx, { at: r.at, values: r[line] }, at, y, width, p.ink, { area: false, dashed: true, first });
    ctx.font = `11px ${p.font}`;
    ctx.textBaseline = 'top';
    ctx.fillStyle = p.soft;
    ctx.fillText(numberText(top), 3, 1);
    paintCursor(ctx, p, s, width, height);
    const row = s.model.row(r, s.hover ?? s.cursor);
    for (const [name, element] of Object.entries(this.values)) {
      const value = numberText(row < 0 ? 0 : r[name][row]);
      if (element.textContent !== value) element.textContent = value;
    }
    const now = s.model.row(r, s.cursor);
    this.canvas.setAttribute('aria-label', `${title} over time${now < 0 ? '' : `; at ${s.clockText(s.cursor)}: ${[line, area, front, above].map((name) => `${r[name][now]} ${name}`).join(', ')}`}`);
  }
}

/** The capacity of one region: what is requested of the CPU of clusters that are Ready, or the replicas where no capacity is known. */
export class LeewardRegion extends TimeChart {
  /** @param {ChartSession} s @param {number} index */
  start(s, index) {
    this.region = s.model.run.regions[index];
    this.known = this.region.cpuCapacity.some((v) => v > 0);
    this.top = Math.max(1, ...(this.known ? [...this.region.cpuCapacity, ...this.region.cpu] : this.region.placed));
    this.show(s, `Capacity of region ${this.region.name || 'without a name'}`, 32);
    this.figures = h('span', { class: 'soft small' });
    this.ready = h('span', { class: 'soft' });
    if (this.head) fill(this.head, h('strong', {}, this.region.name || '(no region)'), ' ', this.ready, h('div', { class: 'hint' }, this.figures));
  }

  draw() {
    if (!this.s || !this.canvas || !this.region || !this.figures) return;
    const { s, region } = this;
    const { p, ctx, width, height, at } = this.plot(s, this.canvas);
    paintGrid(ctx, p, ticksOf(s, width).map(at), height);
    const top = this.top ?? 1;
    const y = (/** @type {number} */ v) => height - 1 - (v / top) * (height - 3);
    const first = Math.max(0, s.model.row(region, s.axis.instant(s.view.from)));
    paintSteps(ctx, { at: region.at, values: this.known ? region.cpu : region.placed }, at, y, width, p.kinds.placed, { area: true, alpha: 0.75, first });
    if (this.known) paintSteps(ctx, { at: region.at, values: region.cpuCapacity }, at, y, width, p.ink, { area: false, first });
    paintCursor(ctx, p, s, width, height);
    const row = s.model.row(region, s.hover ?? s.cursor);
    if (row < 0) return;
    const share = (/** @type {number} */ used, /** @type {number} */ all) => (all > 0 ? `${Math.round((100 * used) / all)} %` : 'full');
    const capacity = this.known ? ` · CPU ${share(region.cpu[row], region.cpuCapacity[row])}` : '';
    const memory = region.memoryCapacity[row] > 0 ? ` · mem ${share(region.memory[row], region.memoryCapacity[row])}` : '';
    const ready = `${numberText(region.ready[row])} of ${numberText(region.clusters)} Ready`;
    const text = `${numberText(region.placed[row])} replicas${capacity}${memory}`;
    if (this.ready && this.ready.textContent !== ready) this.ready.textContent = ready;
    if (this.figures.textContent !== text) this.figures.textContent = text;
    this.canvas.setAttribute('aria-label', `Capacity of region ${region.name || 'without a name'}: ${ready}, ${text}`);
  }
}
