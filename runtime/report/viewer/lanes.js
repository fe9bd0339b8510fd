// Lanes: rows of names with the bars beside them. Only rows that can be seen exist; the canvas has the height of the window.
import { h, fill, fitCanvas } from './dom.js';
import { clamp, spanText, numberText } from './scale.js';
import { barOf, barsOf, density, densities, hit, layersOf, visibleRows } from './layout.js';
import { paintBox, paintGrid, paintLayers, placer, readPalette, looks, lookWords } from './paint.js';
import { paintCursor, pointable, ticksOf } from './charts.js';

/** @typedef {import('./state.js').Session} LaneSession */
/** @typedef {import('./layout.js').Row} LaneRow */

const rowHeight = 24;
/** Browsers scroll no further than some 33 million pixels; above this height, scrolling goes faster than rows. */
const tallest = 12e6;

export class LeewardLanes extends HTMLElement {
  /** @param {LaneSession} s */
  start(s) {
    this.s = s;
    this.names = h('div', { class: 'names', role: 'tree', tabindex: 0, 'aria-label': 'Lanes', 'aria-describedby': 'lanes-keys' });
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.space = h('div', { class: 'space' });
    this.tip = h('div', { class: 'tip', hidden: true });
    this.empty = h('p', { class: 'empty soft', hidden: true }, `None of the ${s.model.loads} and ${s.model.places} passes the filter.`);
    this.frame = h('div', { class: 'frame' }, this.names, h('div', { class: 'plot' }, this.canvas));
    this.said = h('div', { class: 'hidden', 'aria-live': 'polite' });
    const keys = h('p', { class: 'hidden', id: 'lanes-keys' }, 'Arrow up and down go from lane to lane, left and right from bar to bar; Enter opens a lane, p pins it.');
    this.scroller = h('div', { class: 'scroller', onscroll: () => this.draw() }, this.space, this.frame);
    fill(this, this.scroller, this.empty, this.tip, this.said, keys);
    /** @type {Map<string, Uint32Array[]>} */
    this.densities = new Map();
    /** @type {Map<string, {says: string, element: HTMLElement}>} */
    this.pool = new Map();
    s.subscribe((changes) => {
      if (changes.has('view') || changes.has('rows')) this.densities?.clear();
      if (changes.has('rows')) this.resize();
      this.draw();
    });
    pointable(this.canvas, s, (t, y, near) => this.press(t, y, near), (t, y, near) => this.over(t, y, near));
    this.names.addEventListener('keydown', (e) => this.key(e));
    this.names.addEventListener('click', (e) => this.clicked(e));
    this.names.addEventListener('focus', () => { if (!this.row()) this.move(0); });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.resize();
  }

  resize() {
    if (!this.s || !this.space || !this.empty) return;
    this.space.style.height = `${Math.min(tallest, this.s.rows.length * rowHeight)}px`;
    this.empty.hidden = this.s.workloads.length + this.s.clusters.length > 0 || !this.s.model.run.clusters.length;
  }

  /** How far the rows are scrolled, in their own pixels. */
  top() {
    if (!this.s || !this.scroller) return 0;
    const whole = this.s.rows.length * rowHeight;
    const most = this.scroller.scrollHeight - this.scroller.clientHeight;
    return whole <= tallest || most <= 0 ? this.scroller.scrollTop : (this.scroller.scrollTop / most) * (whole - this.scroller.clientHeight);
  }

  draw() {
    if (!this.s || !this.canvas || !this.names || !this.scroller || !this.frame || !this.densities) return;
    const { s } = this;
    const view = this.scroller.clientHeight;
    this.frame.style.height = `${view}px`;
    const top = this.top();
    const { first, last } = visibleRows(top, view, rowHeight, s.rows.length);
    const p = readPalette(this);
    const { ctx, width, height } = fitCanvas(this.canvas);
    const at = placer(s.axis, s.view, width);
    paintGrid(ctx, p, ticksOf(s, width).map(at), height);
    const selected = barOf(s.model, s.selected)?.bar;
    const focus = s.focus;
    /** @type {HTMLElement[]} */
    const names = [];
    for (let i = first; i < last; i++) {
      const row = s.rows[i];
      const y = Math.round(i * rowHeight - top);
      names.push(this.name(row, y));
      if (row.key === focus || row.key === s.selected) {
        ctx.fillStyle = p.accent;
        ctx.globalAlpha = 0.09;
        ctx.fillRect(0, y, width, rowHeight);
        ctx.globalAlpha = 1;
      }
      ctx.fillStyle = p.grid;
      ctx.fillRect(0, y + rowHeight - 1, width, 1);
      if (row.type === 'section') continue;
      if (row.members) this.paintGroup(ctx, p, row, y, width);
      else if (row.key === 'e') this.paintExpectations(ctx, p, at, y);
      else paintLayers(ctx, p, s.model, layersOf(s.model, row.key), at, { y, height: rowHeight - 1, width, words: true }, (_, bar) => bar === selected);
    }
    const had = this.names.children;
    if (had.length !== names.length || names.some((n, i) => n !== had[i])) this.names.replaceChildren(...names);
    for (const key of this.pool?.keys() ?? []) if (!names.some((n) => n.id === `row-${key}`)) this.pool?.delete(key);
    if (focus && names.some((n) => n.id === `row-${focus}`)) this.names.setAttribute('aria-activedescendant', `row-${focus}`);
    else this.names.removeAttribute('aria-activedescendant');
    paintCursor(ctx, p, s, width, Math.min(height, s.rows.length * rowHeight - top));
  }

  /** The name of a row: the same element as long as it says the same. @param {LaneRow} row @param {number} y */
  name(row, y) {
    const s = /** @type {LaneSession} */ (this.s);
    const says = [row.label, row.note, row.open, row.opens, row.key === s.focus, row.key === s.selected].join('|');
    const known = this.pool?.get(row.key);
    if (known?.says === says) {
      known.element.style.transform = `translateY(${y}px)`;
      return known.element;
    }
    const element = h('div', {
      class: `name ${row.type} depth${row.depth}${row.key === s.focus ? ' focus' : ''}${row.key === s.selected ? ' selected' : ''}`, role: 'treeitem', id: `row-${row.key}`,
      'data-key': row.key, 'aria-level': row.depth + 1, 'aria-expanded': row.opens ? String(row.open) : null, 'aria-selected': String(row.key === s.selected), title: row.label,
    }, h('span', { class: 'arrow', 'aria-hidden': 'true' }, row.opens ? (row.open ? '▾' : '▸') : ''), labelOf(row), row.note ? h('span', { class: 'note' }, row.note) : null);
    element.style.transform = `translateY(${y}px)`;
    this.pool?.set(row.key, { says, element });
    return element;
  }

  /** How many of a group are in each state: the square root of their share, so that one of thousands can be seen. @param {CanvasRenderingContext2D} ctx @param {import('./paint.js').Palette} p @param {LaneRow} row @param {number} y @param {number} width */
  paintGroup(ctx, p, row, y, width) {
    const s = /** @type {LaneSession} */ (this.s);
    const members = row.members ?? [];
    const parts = Math.max(1, Math.floor(width / 3));
    let counts = this.densities?.get(row.key);
    if (!counts) {
      counts = density(s.model, members, s.axis, s.view, parts);
      this.densities?.set(row.key, counts);
    }
    const w = width / counts[0].length;
    for (let i = 0; i < counts[0].length; i++) {
      let sum = 0;
      let total = 0;
      for (const c of counts) total += c[i];
      if (!total) continue;
      const tall = Math.min(1, Math.max(0.14, Math.sqrt(total / Math.max(1, members.length)))) * (rowHeight - 5);
      for (let d = counts.length - 1; d >= 0; d--) {
        const part = (counts[d][i] / total) * tall;
        if (!part) continue;
        ctx.fillStyle = p.kinds[densities[d].name];
        ctx.fillRect(i * w, y + rowHeight - 2 - sum - part, w + 0.5, part);
        sum += part;
      }
    }
  }

  /** @param {CanvasRenderingContext2D} ctx @param {import('./paint.js').Palette} p @param {(t: number) => number} at @param {number} y */
  paintExpectations(ctx, p, at, y) {
    const s = /** @type {LaneSession} */ (this.s);
    ctx.lineWidth = 2;
    for (const e of s.model.run.expectations) {
      const x = clamp(at(e.at), 5, Math.max(5, (this.canvas?.clientWidth ?? 0) - 6));
      if (at(e.at) < -5 || at(e.at) > (this.canvas?.clientWidth ?? 0) + 5) continue;
      ctx.strokeStyle = e.passed ? p.good : p.bad;
      ctx.beginPath();
      if (e.passed) {
        ctx.moveTo(x - 4, y + 12);
        ctx.lineTo(x - 1, y + 16);
        ctx.lineTo(x + 5, y + 7);
      } else {
        ctx.moveTo(x - 4, y + 7);
        ctx.lineTo(x + 4, y + 16);
        ctx.moveTo(x + 4, y + 7);
        ctx.lineTo(x - 4, y + 16);
      }
      ctx.stroke();
    }
  }

  /** @param {number} y @returns {LaneRow | undefined} */
  rowAt(y) { return this.s?.rows[Math.floor((this.top() + y) / rowHeight)]; }

  /** @param {number} y */
  within(y) { return (((this.top() + y) % rowHeight) / rowHeight); }

  /** @param {number} t @param {number} y @param {number} near */
  press(t, y, near) {
    const { s } = this;
    const row = this.rowAt(y);
    if (!s || !row) return;
    s.focus = row.key;
    const address = row.members || row.type === 'section' ? '' : hit(s.model, row.key, t, this.within(y), near);
    s.go(t);
    s.select(address || row.key);
  }

  /** @param {number | null} t @param {number} y @param {number} near */
  over(t, y, near) {
    const { s, tip, canvas } = this;
    if (!s || !tip || !canvas) return;
    const row = t === null ? undefined : this.rowAt(y);
    const words = row && t !== null ? this.wordsAt(row, t, y, near) : '';
    tip.hidden = !words;
    if (!words || t === null) return;
    tip.textContent = words;
    const x = placer(s.axis, s.view, canvas.clientWidth)(t) + canvas.offsetLeft;
    const left = clamp(x + 12, 4, this.clientWidth - tip.offsetWidth - 6);
    tip.style.transform = `translate(${left}px, ${clamp(y + 18, 0, this.clientHeight - tip.offsetHeight - 4)}px)`;
  }

  /** @param {LaneRow} row @param {number} t @param {number} y @param {number} near */
  wordsAt(row, t, y, near) {
    const s = /** @type {LaneSession} */ (this.s);
    if (row.members) return this.wordsOfGroup(row, t);
    if (row.key === 'e') {
      const [e] = s.model.run.expectations.filter((x) => Math.abs(x.at - t) <= near).sort((a, b) => Math.abs(a.at - t) - Math.abs(b.at - t));
      return e ? `${e.passed ? '✓' : '✗'} ${e.text}` : '';
    }
    const address = row.type === 'section' ? '' : hit(s.model, row.key, t, this.within(y), near);
    return address ? describeBar(s, address) : '';
  }

  /** @param {LaneRow} row @param {number} t */
  wordsOfGroup(row, t) {
    const s = /** @type {LaneSession} */ (this.s);
    const counts = this.densities?.get(row.key);
    if (!counts) return '';
    const i = clamp(Math.floor(((s.axis.at(t) - s.view.from) / (s.view.to - s.view.from)) * counts[0].length), 0, counts[0].length - 1);
    const said = densities.map((d, n) => (counts[n][i] ? `${numberText(counts[n][i])} ${row.key[0] === 'P' ? d.pods : d.words}` : '')).filter(Boolean);
    return said.length ? `${row.label}: ${said.join(', ')}` : '';
  }

  /** @param {MouseEvent} e */
  clicked(e) {
    const element = e.target instanceof Element ? e.target.closest('.name') : null;
    const key = element?.getAttribute('data-key');
    const row = this.s?.rows.find((r) => r.key === key);
    if (!this.s || !row) return;
    this.s.focus = row.key;
    if (row.opens && (row.type !== 'lane' || (e.target instanceof Element && e.target.classList.contains('arrow')))) this.s.toggle(row.key);
    else this.s.select(row.key);
    this.names?.focus({ preventScroll: true });
  }

  row() { return this.s?.rows.find((r) => r.key === this.s?.focus); }

  /** @param {KeyboardEvent} e */
  key(e) {
    const { s } = this;
    if (!s || e.ctrlKey || e.metaKey || e.altKey) return;
    const row = this.row();
    const page = Math.max(1, Math.floor((this.scroller?.clientHeight ?? 0) / rowHeight) - 1);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      PageDown: () => this.move(page),
      PageUp: () => this.move(-page),
      Home: () => this.move(-Infinity),
      End: () => this.move(Infinity),
      ArrowRight: () => this.moveBar(1),
      ArrowLeft: () => this.moveBar(-1),
      Enter: () => { if (row?.opens) s.toggle(row.key); else if (row) s.select(row.key); },
      p: () => { if (row) s.pin(row.key); },
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    e.stopPropagation();
    act();
  }

  /** @param {number} by */
  move(by) {
    const { s, scroller } = this;
    if (!s || !scroller || !s.rows.length) return;
    const from = s.rows.findIndex((r) => r.key === s.focus);
    const i = clamp(from < 0 ? 0 : from + by, 0, s.rows.length - 1);
    const row = s.rows[i];
    s.focus = row.key;
    this.reveal(i);
    if (row.type === 'lane') s.select(row.key);
    this.say(`${row.label}${row.note ? `, ${row.note}` : ''}`);
    s.changed('selection');
  }

  /** Scrolls to a row. @param {number} i */
  reveal(i) {
    const { s, scroller } = this;
    if (!s || !scroller) return;
    const whole = s.rows.length * rowHeight;
    const top = this.top();
    const view = scroller.clientHeight;
    let to = top;
    if (i * rowHeight < top) to = i * rowHeight;
    else if ((i + 1) * rowHeight > top + view) to = (i + 1) * rowHeight - view;
    if (to !== top) scroller.scrollTop = whole <= tallest ? to : (to / (whole - view)) * (scroller.scrollHeight - view);
  }

  /** From bar to bar of a row. @param {1 | -1} way */
  moveBar(way) {
    const { s } = this;
    const row = this.row();
    if (!s || !row || row.members || row.type === 'section') return;
    const bars = barsOf(s.model, row.key);
    const now = bars.findIndex((b) => b.address === s.selected);
    const next = now < 0 ? (way > 0 ? 0 : bars.length - 1) : clamp(now + way, 0, bars.length - 1);
    if (!bars[next]) return;
    s.select(bars[next].address);
    this.say(describeBar(s, bars[next].address));
  }

  /** @param {string} words */
  say(words) { if (this.said) this.said.textContent = words; }
}

/** The name of a row; where there is little space, without the namespace. @param {LaneRow} row */
function labelOf(row) {
  const slash = /^(p:)?w\d+$/.test(row.key) ? row.label.indexOf('/') + 1 : 0;
  return [slash ? h('span', { class: 'ns soft' }, row.label.slice(0, slash)) : null, h('span', { class: 'label' }, row.label.slice(slash))];
}

/** A bar in words: what, on which cluster, from when to when. @param {LaneSession} s @param {string} address */
export function describeBar(s, address) {
  const found = barOf(s.model, address);
  if (!found) return '';
  const { bar, on, owner } = found;
  const where = on >= 0 ? ` on ${s.model.run.clusters[s.model.run.workloads[Number(owner.slice(1))].on[on].cluster].name}` : '';
  const kind = s.model.kind(bar);
  const label = s.model.text(bar[3]) || looks[kind]?.words || kind;
  return `${label}${where}, ${timesOf(s, bar)}`;
}

/** @param {LaneSession} s @param {number[]} bar */
export function timesOf(s, bar) {
  const { clockText, now } = s;
  if (bar[2] < 0) return `from ${clockText(bar[1])} to the end`;
  if (bar[1] === bar[2]) return `at ${clockText(bar[1])}`;
  if (now !== undefined && bar[2] >= now) return `since ${clockText(bar[1])}${bar[2] > now ? `, until ${clockText(bar[2])} (in ${spanText(Math.round((bar[2] - now) / 1000) * 1000)})` : ''}`;
  return `${clockText(bar[1])} to ${clockText(bar[2])} (${spanText(bar[2] - bar[1])})`;
}

/** A box painted as bars of a kind are, for the legend. */
export class LeewardSwatch extends HTMLElement {
  connectedCallback() {
    const canvas = h('canvas', { 'aria-hidden': 'true' });
    fill(this, canvas);
    requestAnimationFrame(() => {
      const { ctx, width, height } = fitCanvas(canvas);
      paintBox(ctx, readPalette(this), this.getAttribute('kind') ?? '', 0, 0, width, height);
    });
  }
}

/** @param {string} kind */
export function swatch(kind) { return h(/** @type {'span'} */ ('leeward-swatch'), { kind }); }

/** What bars mean. @param {Set<string>} kinds @param {import('./model.js').Model} [m] */
export function legend(kinds, m) { return Object.keys(looks).filter((k) => kinds.has(k) && looks[k].fill !== 'mark').map((k) => h('span', {}, swatch(k), lookWords(k, m))); }

/** The kinds of the bars of a run. @param {import('./model.js').Model} m @returns {Set<string>} */
export function kindsOf(m) {
  const had = new Set();
  const take = (/** @type {{bars: number[][]}[]} */ tracks) => tracks.forEach((t) => t.bars.forEach((b) => had.add(m.kind(b))));
  const { run } = m;
  for (const list of [run.clusters, run.workloads]) for (const lane of list) take(lane.tracks);
  for (const w of run.workloads) for (const o of w.on) take(o.tracks);
  take(run.governor);
  take(run.inputs);
  return had;
}
