// Figures of reports: what is read from the JSON of storms, assessments and shadows, scales, and how numbers are written. Pure values.
import { numberText, spanText } from './scale.js';

/** @typedef {{from: number, to: number, value: number}} Column a value over a part of an axis */
/** @typedef {{at: (v: number) => number, ticks: number[]}} Scale where values lie, 0 to 1 */
/** @typedef {{fromSeconds: number, toSeconds: number, count: number}} Bucket */
/** @typedef {{stage: string, count: number, minSeconds: number, meanSeconds: number, p50Seconds: number, p90Seconds: number, p99Seconds: number, p999Seconds: number, maxSeconds: number, share: number, buckets?: Bucket[]}} Latency */
/** @typedef {{evicted: number, placed: number, healthy: number, released: number, backlog: number}} StormPoint */
/** @typedef {{count: number, perSecond: number, peakPerSecond: number}} StormRate */
/** @typedef {{cluster: string, region?: string, failed?: boolean, before: number, after: number}} ClusterLoad */
/**
 * @typedef {object} StormData
 * @property {string} command
 * @property {{files?: string[], clusters?: number, regions?: number, bindings?: number, replicas?: number, nodes?: number, zones?: number, pods?: number, deployments?: number}} fleet
 * @property {{pattern: string, kill: string, failed: number}} outage
 * @property {string} profile @property {string[]} [set] @property {number} seed @property {number} lanes @property {boolean} [interrupted]
 * @property {number} setupSeconds @property {number} elapsedSeconds @property {number} fleetSeconds
 * @property {Record<'evicted' | 'placed' | 'healthy' | 'released', StormRate> & {withdrawn: number, held: number}} rates
 * @property {Latency[] | null} latencies @property {Latency[] | null} fleetLatencies
 * @property {{intervalSeconds: number, points: StormPoint[] | null}} series
 * @property {{kind: string, messages: number, seconds: number, share: number}[] | null} machines
 * @property {Record<'cpuSeconds' | 'cpuSecondsPerFailover' | 'messagesPerFailover' | 'allocatedBytesPerFailover' | 'allocatedObjectsPerFailover' | 'bytesPerBinding' | 'peakMemoryBytes' | 'gcShare' | 'gcs', number>} costs
 * @property {ClusterLoad[] | null} load
 * @property {{system: string, firstSeconds: number, lastSeconds: number, perSecond: number}} [measured]
 * @property {{name: string, passed: boolean, detail?: string}[] | null} checks
 */
/** @typedef {{group: string, workloads: number, unavailable: number, lowestAvailability: number}} GroupShare */
/** @typedef {{workloads: number, replicas: number}} Amount */
/**
 * @typedef {object} Contingency
 * @property {string} name @property {string} kind @property {string[]} of @property {string[]} clusters @property {string} [sameAs]
 * @property {Amount} lost @property {Amount} evicted @property {Amount} rescheduled @property {Amount} unschedulable @property {Amount} unavailable
 * @property {number} down @property {number} lowestAvailability @property {number | null} availableAfterSeconds
 * @property {{workload: string, missing: number, kind: string, reason: string}[]} [troubles] @property {number} [unnamed]
 * @property {{cluster: string, resource: string, requested: string, allocatable: string}[]} [overflows] @property {string[]} [breakers] @property {GroupShare[]} [groups]
 */

/** A time in a unit that keeps it short: three digits. @param {number} seconds */
export function secondsText(seconds) {
  if (seconds >= 60) return spanText(seconds * 1000);
  for (const [unit, name] of /** @type {const} */ ([[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']])) if (seconds >= unit * 0.9995) return `${digits(seconds / unit)}${name}`;
  return seconds > 0 ? `${digits(seconds * 1e9)}ns` : '0s';
}

/** Three digits of a number. @param {number} n */
function digits(n) { return n >= 999.5 ? String(Math.round(n)) : String(Number(n.toPrecision(3))); }

/** A number in three digits or so: 950, 1.23k, 45.6M. @param {number} n */
export function shortText(n) {
  for (const [size, unit] of /** @type {const} */ ([[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])) if (n >= size) return digits(n / size) + unit;
  return digits(n);
}

/** @param {number} n */
export function bytesText(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024;
  return `${unit ? digits(n) : Math.round(n)} ${units[unit]}`;
}

/** A share, rounded down, so that only what is whole is 100 %. @param {number} share */
export function shareText(share) { return `${Math.floor(share * 100 + 1e-9)} %`; }

/** @param {number} n @param {string} one @param {string} [more] */
export function countText(n, one, more = `${one}s`) { return `${numberText(n)} ${n === 1 ? one : more}`; }

/** The first of 1, 2, 5, 10, 20 ... that is not below a step. @param {number} step */
function roundStep(step) {
  const unit = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5, 10].find((n) => n * unit >= step * (1 - 1e-9)) ?? 10) * unit;
}

/** From zero to the first round value that is not below most. @param {number} most @returns {Scale & {top: number}} */
export function linearScale(most) {
  const step = roundStep((most > 0 ? most : 1) / 4);
  const top = Math.ceil((most > 0 ? most : 1) / step - 1e-9) * step;
  return { top, at: (v) => Math.min(1, Math.max(0, v / top)), ticks: Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step) };
}

/** From zero to a value. @param {number} end @returns {Scale} */
export function timeScale(end) {
  const length = end > 0 ? end : 1;
  const step = roundStep(length / 6);
  return { at: (v) => Math.min(1, Math.max(0, v / length)), ticks: Array.from({ length: Math.floor(length / step + 1e-9) + 1 }, (_, i) => i * step) };
}

/** Whole decades around values above zero; zero lies at the beginning. @param {number} least @param {number} most @returns {Scale} */
export function logScale(least, most) {
  const low = Math.floor(Math.log10(least) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(most) - 1e-9));
  const ticks = [];
  for (let d = low; d < high; d++) for (const n of high - low <= 2 ? [1, 2, 5] : [1]) ticks.push(n * 10 ** d);
  ticks.push(10 ** high);
  return { at: (v) => Math.min(1, Math.max(0, (Math.log10(v) - low) / (high - low))), ticks };
}

/** Bounds of n things in equal groups, at most so many. @param {number} n @param {number} most */
export function groupBounds(n, most) {
  const size = Math.max(1, Math.ceil(n / most));
  const bounds = [];
  for (let i = 0; i < n; i += size) bounds.push(i);
  return [...bounds, n];
}

/** Most columns of a chart: more cannot be told apart. */
export const mostColumns = 240;

/**
 * A series of a storm as columns over seconds: events a second, or of the backlog how much there is at the end.
 * @param {StormData['series']} series
 * @param {keyof StormPoint} name
 * @returns {Column[]}
 */
export function rateColumns(series, name) {
  const points = series.points ?? [];
  const bounds = groupBounds(points.length, mostColumns);
  return bounds.slice(1).map((to, i) => {
    const part = points.slice(bounds[i], to);
    const value = name === 'backlog' ? part[part.length - 1].backlog : part.reduce((sum, p) => sum + p[name], 0) / (part.length * series.intervalSeconds);
    return { from: bounds[i] * series.intervalSeconds, to: to * series.intervalSeconds, value };
  });
}

/** Waiting times as columns: what share of all took so long. @param {Latency | undefined} l @returns {Column[]} */
export function latencyColumns(l) { return (l?.buckets ?? []).map((b) => ({ from: b.fromSeconds, to: b.toSeconds, value: b.count / Math.max(1, l?.count ?? 0) })); }

/** The scale that has all of several latencies. @param {Latency[]} all @returns {Scale} */
export function latencyScale(all) {
  const buckets = all.flatMap((l) => l.buckets ?? []);
  const most = Math.max(1e-6, ...buckets.map((b) => b.toSeconds));
  return logScale(Math.min(most, ...buckets.filter((b) => b.fromSeconds > 0).map((b) => Math.max(1e-6, b.fromSeconds))), most);
}

/** The surviving clusters, the fullest first, as columns of what they ran on average. @param {ClusterLoad[]} load @param {number} most */
export function loadColumns(load, most) {
  const survivors = load.filter((c) => !c.failed).sort((a, b) => b.after - a.after);
  const bounds = groupBounds(survivors.length, most);
  return bounds.slice(1).map((to, i) => {
    const part = survivors.slice(bounds[i], to);
    const mean = (/** @type {'before' | 'after'} */ of) => part.reduce((sum, c) => sum + c[of], 0) / part.length;
    return { from: bounds[i], to, clusters: part, before: mean('before'), after: mean('after') };
  });
}

/** The value of the column at a place; undefined: there is none. @param {Column[]} columns @param {number} at */
export function columnAt(columns, at) { return columns.find((c) => at >= c.from && at < c.to) ?? (columns.length && at >= columns[columns.length - 1].to ? columns[columns.length - 1] : undefined); }

/**
 * The figures by which storms are compared: name, value, text.
 * @param {StormData} r
 * @returns {[string, number, string][]}
 */
export function stormFigures(r) {
  /** @type {[string, number, string][]} */
  const list = [];
  const put = (/** @type {string} */ name, /** @type {number | undefined} */ n, /** @type {(n: number) => string} */ text) => { if (n !== undefined) list.push([name, n, text(n)]); };
  if (r.fleet.nodes) {
    put('nodes', r.fleet.nodes, numberText);
    put('pods', r.fleet.pods, numberText);
  } else {
    put('clusters', r.fleet.clusters, numberText);
    put('workloads', r.fleet.bindings, numberText);
  }
  put('failed', r.outage.failed, numberText);
  put('evictions', r.rates.evicted.count, numberText);
  put('completed failovers', r.rates.released.count, numberText);
  put('took', r.elapsedSeconds, secondsText);
  put('took the fleet', r.fleetSeconds, secondsText);
  put('evictions a second', r.rates.evicted.perSecond, shortText);
  put('placements a second', r.rates.placed.perSecond, shortText);
  put('completed failovers a second', r.rates.released.perSecond, shortText);
  for (const l of r.latencies ?? []) {
    put(`until ${l.stage}, 50 %`, l.p50Seconds, secondsText);
    put(`until ${l.stage}, 99 %`, l.p99Seconds, secondsText);
  }
  const c = r.costs;
  put('CPU a failover', c.cpuSecondsPerFailover, secondsText);
  put('messages a failover', c.messagesPerFailover, digits);
  put('allocated a failover', c.allocatedBytesPerFailover, bytesText);
  put(`memory a ${r.fleet.nodes ? 'pod' : 'workload'}`, c.bytesPerBinding, bytesText);
  put('memory at the peak', c.peakMemoryBytes, bytesText);
  return list;
}

/** Whether anything happens to workloads. @param {Contingency} c */
export function changes(c) { return c.lost.workloads + c.evicted.workloads > 0; }

/** How a cell of the heat map is painted, the worst last. @param {GroupShare} g */
export function heatOf(g) {
  if (g.unavailable > 0) return 'lost';
  if (g.lowestAvailability >= 1) return 'kept';
  if (g.lowestAvailability >= 0.9) return 'slight';
  return g.lowestAvailability >= 0.5 ? 'dips' : 'sinks';
}

/** The groups that contingencies concern: those with the most that is unavailable first, then by name. @param {Contingency[]} rows */
export function worstGroups(rows) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const r of rows) for (const g of r.groups ?? []) sums.set(g.group, (sums.get(g.group) ?? 0) + g.unavailable);
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([name]) => name);
}

/** How long after the failure all is available again. @param {Contingency} c */
export function availableAgain(c) {
  if (c.availableAfterSeconds === null) return 'never';
  return c.availableAfterSeconds === 0 ? 'no interruption' : `after ${secondsText(c.availableAfterSeconds)}`;
}
