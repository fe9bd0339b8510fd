// Painting: colours and shapes of bars. Colours come from the style sheet; no state is told by its colour alone.

/** @typedef {import('./scale.js').Axis} PaintAxis */
/** @typedef {import('./scale.js').View} PaintView */
/** @typedef {import('./model.js').Model} PaintModel */
/** @typedef {import('./layout.js').Layer} PaintLayer */

/** What kinds of bars are called, also of nodes and pods where that differs, and how they are filled: whole, striped or framed.
 * From what a summary of several shows last to what it shows first. */
export const looks = /** @type {Record<string, {words: string, pods?: string, fill: 'whole' | 'stripes' | 'frame' | 'mark'}>} */ ({
  placed: { words: 'placed', fill: 'whole' },
  running: { words: 'running', fill: 'whole' },
  good: { words: 'Ready, or not limited', pods: 'Ready', fill: 'frame' },
  healthy: { words: 'copy healthy', pods: 'ready', fill: 'whole' },
  neutral: { words: 'other condition, or drain', pods: 'cordoned, other condition, or finished', fill: 'whole' },
  unknown: { words: 'health of the copy unknown', fill: 'frame' },
  starting: { words: 'copy starting', fill: 'stripes' },
  pending: { words: 'pending', fill: 'stripes' },
  noSchedule: { words: 'taint NoSchedule', fill: 'stripes' },
  noExecute: { words: 'taint NoExecute', fill: 'whole' },
  slowed: { words: 'evictions slowed or stopped', pods: 'waits for a taint', fill: 'stripes' },
  countdown: { words: 'eviction scheduled', fill: 'frame' },
  blocked: { words: 'eviction blocked', fill: 'stripes' },
  evicting: { words: 'evicting', fill: 'whole' },
  terminating: { words: 'terminating', fill: 'whole' },
  bad: { words: 'not Ready, or silent', fill: 'whole' },
  unhealthy: { words: 'copy unhealthy or unavailable', pods: 'not ready, or failed', fill: 'whole' },
  unschedulable: { words: 'unschedulable', fill: 'stripes' },
  mark: { words: 'decision or change', fill: 'mark' },
  warning: { words: 'warning', fill: 'mark' },
});

/** What a kind is called on a page of clusters, of nodes, or of both. @param {string} kind @param {PaintModel} [m] */
export function lookWords(kind, m) {
  const { words, pods = words } = looks[kind];
  if (!m?.run.nodes) return words;
  return !m.firstNode ? pods : words.includes(pods) ? words : `${words}; ${pods}`;
}

/** The colours of the page as it is now. @param {Element} element */
export function readPalette(element) {
  const style = getComputedStyle(element);
  const read = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  /** @type {Record<string, string>} */
  const kinds = {};
  for (const kind of Object.keys(looks)) kinds[kind] = read(`k-${kind}`);
  return { kinds, ink: read('ink'), soft: read('soft'), rule: read('rule'), grid: read('grid'), accent: read('accent'), card: read('card'), paper: read('paper'), bad: read('bad-ink'), good: read('good-ink'), available: read('k-healthy'), font: style.fontFamily };
}

/** @typedef {ReturnType<typeof readPalette>} Palette */

/**
 * Where an instant lies on a canvas.
 * @param {PaintAxis} axis
 * @param {PaintView} view
 * @param {number} width
 */
export function placer(axis, view, width) {
  const scale = width / (view.to - view.from);
  return (/** @type {number} */ t) => (axis.at(t) - view.from) * scale;
}

/**
 * Fills a box as bars of a kind are filled.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Palette} p
 * @param {string} kind
 * @param {number} x @param {number} y @param {number} w @param {number} h
 */
export function paintBox(ctx, p, kind, x, y, w, h) {
  const fill = looks[kind]?.fill ?? 'whole';
  ctx.fillStyle = p.kinds[kind] || p.soft;
  if (fill === 'whole') {
    ctx.fillRect(x, y, w, h);
    return;
  }
  ctx.globalAlpha = fill === 'frame' ? 0.28 : 0.4;
  ctx.fillRect(x, y, w, h);
  ctx.globalAlpha = 1;
  if (fill === 'stripes' && w > 3) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, w, h);
    ctx.clip();
    ctx.strokeStyle = p.kinds[kind];
    ctx.lineWidth = 2;
    ctx.beginPath();
    const first = Math.floor(x / 7) * 7 - h;
    for (let at = Math.max(first, -h); at < x + w && at < 8192; at += 7) {
      ctx.moveTo(at, y + h);
      ctx.lineTo(at + h, y);
    }
    ctx.stroke();
    ctx.restore();
  } else if (h > 6 && w > 3) {
    ctx.strokeStyle = p.kinds[kind];
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x + 0.75, y + 0.75, w - 1.5, h - 1.5);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Palette} p @param {string} kind @param {number} x @param {number} y */
export function paintMark(ctx, p, kind, x, y) {
  ctx.fillStyle = p.kinds[kind];
  ctx.strokeStyle = p.card;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  if (kind === 'warning') {
    ctx.moveTo(x, y - 5.5);
    ctx.lineTo(x + 5.5, y + 4.5);
    ctx.lineTo(x - 5.5, y + 4.5);
    ctx.closePath();
  } else ctx.arc(x, y, 3.5, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.fill();
}

/**
 * Paints one row of lanes.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Palette} p
 * @param {PaintModel} m
 * @param {PaintLayer[]} layers
 * @param {(t: number) => number} at
 * @param {{y: number, height: number, width: number, words: boolean}} box
 * @param {(l: PaintLayer, bar: number[]) => boolean} isSelected
 */
export function paintLayers(ctx, p, m, layers, at, box, isSelected) {
  /** @type {[string, number, number][]} */
  const marks = [];
  /** @type {[number, number, number, number, number[]][]} */
  const boxes = [];
  /** @type {[number, number, number, number] | null} */
  let frame = null;
  for (const l of layers) {
    const y = Math.round(box.y + l.top * box.height);
    const height = Math.max(2, Math.round(l.height * box.height));
    let painted = -1;
    for (const bar of l.bars) {
      const kind = m.kind(bar);
      let x = at(bar[1]);
      const end = bar[2] < 0 ? box.width : at(bar[2]);
      if (end < -6 || x > box.width + 6) continue;
      if (kind === 'mark' || kind === 'warning' || bar[1] === bar[2]) {
        marks.push([kind, x, y + height / 2]);
        if (isSelected(l, bar)) frame = [x - 7, y - 1, 14, height + 2];
        continue;
      }
      x = Math.max(-4, x);
      const w = Math.max(1.5, Math.min(end, box.width + 4) - x);
      if (x + w <= painted) continue; // smaller than a pixel, beside one that is painted
      paintBox(ctx, p, kind, x, y, w, height);
      painted = w < 2 ? x + 1 : x;
      if (isSelected(l, bar)) frame = [x, y, w, height];
      boxes.push([x, x + w, y, height, bar]);
    }
  }
  if (box.words) boxes.forEach(([x, end, y, height, bar], i) => {
    if (height < 12 || end - x < 46) return;
    for (const [from, to, top] of boxes.slice(i + 1)) { // words begin beside what is in front
      if (top >= y + height || to <= x || from >= end) continue;
      if (from <= x) x = to;
      else end = from;
    }
    paintWords(ctx, p, m.text(bar[3]), x, y, end - x, height, looks[m.kind(bar)]?.fill === 'whole');
  });
  for (const [kind, x, y] of marks) paintMark(ctx, p, looks[kind]?.fill === 'mark' ? kind : 'mark', x, y);
  if (frame) {
    ctx.strokeStyle = p.ink;
    ctx.lineWidth = 2;
    ctx.strokeRect(frame[0], frame[1], frame[2], frame[3]);
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {Palette} p @param {string} words @param {number} x @param {number} y @param {number} w @param {number} h @param {boolean} whole */
function paintWords(ctx, p, words, x, y, w, h, whole) {
  if (!words) return;
  ctx.font = `11px ${p.font}`;
  ctx.textBaseline = 'middle';
  const from = Math.max(x, 0) + 5;
  const space = x + w - from - 4;
  if (space < 30) return;
  let text = words.slice(0, 300);
  const wide = ctx.measureText(text).width;
  if (wide > space) {
    const fits = Math.floor((text.length * space) / wide) - 1;
    if (fits < 4) return;
    text = `${text.slice(0, fits)}…`;
  }
  if (!whole) { // striped and framed bars: a plate below the words
    ctx.fillStyle = p.card;
    ctx.globalAlpha = 0.85;
    ctx.fillRect(from - 2, y + 1.5, ctx.measureText(text).width + 4, h - 3);
    ctx.globalAlpha = 1;
  }
  ctx.fillStyle = p.ink;
  ctx.fillText(text, from, y + h / 2 + 0.5);
}

/** Lines of an axis. @param {CanvasRenderingContext2D} ctx @param {Palette} p @param {number[]} xs @param {number} height */
export function paintGrid(ctx, p, xs, height) {
  ctx.fillStyle = p.grid;
  for (const x of xs) ctx.fillRect(Math.round(x), 0, 1, height);
}

/**
 * A step line, or the area below it: values hold from their instant to the next.
 * @param {CanvasRenderingContext2D} ctx
 * @param {{at: number[], values: number[], base?: number[]}} data
 * @param {(t: number) => number} x
 * @param {(v: number) => number} y
 * @param {number} width
 * @param {string} colour
 * @param {{area: boolean, dashed?: boolean, alpha?: number, first: number}} how
 */
export function paintSteps(ctx, data, x, y, width, colour, how) {
  /** @type {[number, number, number][]} */
  const points = [];
  let pixel = -Infinity;
  for (let i = how.first; i < data.at.length; i++) {
    const base = data.base?.[i] ?? 0;
    const value = data.values[i] + base;
    const from = x(data.at[i]);
    if (from > width) break;
    if (from - pixel >= 0.5) {
      pixel = from;
      points.push([pixel, value, base]);
      continue;
    }
    const n = points.length - (points[points.length - 1][0] > pixel ? 2 : 1); // several within a pixel: the highest, and the last, which goes on
    if (value > points[n][1]) points[n] = [pixel, value, base];
    points[n + 1] = [pixel + 0.5, value, base];
  }
  if (!points.length) return;
  ctx.beginPath();
  ctx.moveTo(points[0][0], y(points[0][1]));
  for (let i = 0; i < points.length; i++) {
    ctx.lineTo(points[i][0], y(points[i][1]));
    ctx.lineTo(points[i + 1]?.[0] ?? width, y(points[i][1]));
  }
  if (how.area) {
    for (let i = points.length - 1; i >= 0; i--) {
      ctx.lineTo(points[i + 1]?.[0] ?? width, y(points[i][2]));
      ctx.lineTo(points[i][0], y(points[i][2]));
    }
    ctx.closePath();
    ctx.fillStyle = colour;
    ctx.globalAlpha = how.alpha ?? 1;
    ctx.fill();
    ctx.globalAlpha = 1;
    return;
  }
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.setLineDash(how.dashed ? [4, 3] : []);
  ctx.stroke();
  ctx.setLineDash([]);
}
