// Scales: where an instant lies along the width, and how instants are written. Instants are milliseconds from the start; places
// along the whole run go from 0 to 1.

/** @typedef {{at: (t: number) => number, instant: (u: number) => number, kind: 'clock' | 'event'}} Axis */
/** @typedef {{from: number, to: number}} View a part of an axis, 0 to 1 */

/**
 * An axis to scale.
 * @param {number} end
 * @returns {Axis}
 */
export function clockAxis(end) {
  const length = Math.max(1, end);
  return { kind: 'clock', at: (t) => clamp(t / length, 0, 1), instant: (u) => clamp(u, 0, 1) * length };
}

/**
 * An axis on which every instant at which something happens has some width, and half of the width goes by the clock: the seconds of
 * a handover can be told apart beside hours without change.
 * @param {ArrayLike<number>} instants in order, each once
 * @param {number} end
 * @returns {Axis}
 */
export function eventAxis(instants, end) {
  const last = instants.length - 1;
  const length = Math.max(1, end);
  /** @param {number} t */
  const at = (t) => {
    if (last < 1) return clamp(t / length, 0, 1);
    const i = lowerBound(instants, t);
    let passed = i;
    if (i > last) passed = last;
    else if (instants[i] !== t && i > 0) passed = i - 1 + (t - instants[i - 1]) / (instants[i] - instants[i - 1]);
    return clamp(0.5 * (t / length) + 0.5 * (passed / last), 0, 1);
  };
  /** @param {number} u */
  const instant = (u) => {
    if (u <= 0 || u >= 1) return u <= 0 ? 0 : length;
    // at grows with t: halve until the interval is a fraction of a millisecond
    let low = 0;
    let high = length;
    for (let n = 0; n < 60 && high - low > 0.01; n++) {
      const middle = (low + high) / 2;
      if (at(middle) < u) low = middle;
      else high = middle;
    }
    return high;
  };
  return { kind: 'event', at, instant };
}

/** @param {number} v @param {number} low @param {number} high */
export function clamp(v, low, high) { return Math.min(high, Math.max(low, v)); }

/**
 * The first place in a sorted list whose value is not below t.
 * @param {ArrayLike<number>} sorted
 * @param {number} t
 */
export function lowerBound(sorted, t) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Least part of an axis that a view may show. */
const narrowestView = 1e-6;

/**
 * A view zoomed by a factor around a place, within the axis.
 * @param {View} v
 * @param {number} factor below 1: closer
 * @param {number} around
 * @returns {View}
 */
export function zoomView(v, factor, around) {
  const width = clamp((v.to - v.from) * factor, narrowestView, 1);
  const share = (around - v.from) / (v.to - v.from);
  return slideView({ from: around - share * width, to: around - share * width + width }, 0);
}

/**
 * A view moved by a part of its width, within the axis.
 * @param {View} v
 * @param {number} part
 * @returns {View}
 */
export function slideView(v, part) {
  const width = Math.min(1, v.to - v.from);
  const from = clamp(v.from + part * width, 0, 1 - width);
  return { from, to: from + width };
}

/**
 * The view between two places in any order.
 * @param {number} a
 * @param {number} b
 * @returns {View}
 */
export function viewBetween(a, b) {
  const from = clamp(Math.min(a, b), 0, 1 - narrowestView);
  return { from, to: clamp(Math.max(a, b), from + narrowestView, 1) };
}

const tickSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5];

/**
 * Instants for the words of an axis, at least a share of the view apart: round ones to scale, and those of events otherwise.
 * @param {Axis} axis
 * @param {View} view
 * @param {ArrayLike<number>} instants
 * @param {number} apart
 * @param {number} [offset] what instants count from, where round ones count from another
 * @returns {number[]}
 */
export function axisTicks(axis, view, instants, apart, offset = 0) {
  const from = axis.instant(view.from);
  const to = axis.instant(view.to);
  if (axis.kind === 'clock') {
    const least = (to - from) * apart;
    let step = tickSteps.find((s) => s >= least);
    if (step === undefined) step = Math.ceil(least / 864e5) * 864e5;
    const ticks = [];
    for (let t = Math.ceil((from + offset) / step) * step - offset; t <= to; t += step) ticks.push(t);
    return ticks;
  }
  const ticks = [];
  let last = -Infinity;
  for (let i = lowerBound(instants, from); i < instants.length && instants[i] <= to; i++) {
    const x = (axis.at(instants[i]) - view.from) / (view.to - view.from);
    if (x >= last + apart) {
      ticks.push(instants[i]);
      last = x;
    }
  }
  return ticks;
}

/**
 * An instant as timelines show it: 00:06:40, 00:00:00.250.
 * @param {number} t
 */
export function clockText(t) {
  const ms = Math.round(t);
  const s = Math.floor(ms / 1000);
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const text = `${two(Math.floor(s / 3600))}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  return ms % 1000 ? `${text}.${String(ms % 1000).padStart(3, '0')}` : text;
}

/**
 * A length of time: 15s, 5m40s, 2h, 250ms.
 * @param {number} t
 */
export function spanText(t) {
  const ms = Math.round(t);
  if (ms < 1000) return `${ms}ms`;
  const s = ms / 1000;
  if (s < 60) return `${Number(s.toFixed(3))}s`;
  const whole = Math.round(s);
  const parts = [[Math.floor(whole / 3600), 'h'], [Math.floor(whole / 60) % 60, 'm'], [whole % 60, 's']];
  return parts.filter(([n]) => n).map(([n, unit]) => `${n}${unit}`).join('');
}

/**
 * A number in groups of three digits.
 * @param {number} n
 */
export function numberText(n) { return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f'); }

/**
 * The first round number that is not below n.
 * @param {number} n
 */
export function roundUp(n) {
  if (n <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((m) => m * unit).find((m) => m >= n) ?? n;
}
