// The live picture: what the daemon says (docs/viewer-data.md), put together, and what is read from it. Pure values.
import { spanText } from './scale.js';

/** @typedef {{scheduled: number, blocked: number, evicting: number}} Progress */
/**
 * @typedef {object} LiveCluster
 * @property {string} [region] @property {string} [provider] @property {string} ready @property {string} [reason] @property {string} [since]
 * @property {string[]} [taints] @property {(string | null)[]} [taintedAt] @property {number} [taintCount]
 * @property {{deadline?: string, bindings: number, left: number, missed?: boolean}} [drain]
 * @property {string} [held] @property {string} [stay] @property {number} workloads @property {number} replicas @property {number} available
 * @property {Progress} evictions @property {number} [cpu] @property {number} [cpuCapacity]
 */
/** @typedef {{namespace?: string, name: string, cluster: string, state: string, deadline?: string, since?: string, until?: string, taint?: string, policy?: string, reason?: string, message?: string, to?: string}} LiveEviction */
/** @typedef {{name?: string, state?: string, message?: string, rate?: number, until?: string, breaker?: {state: string, message?: string, until?: string}}} Governance */
/** @typedef {Governance & {pause?: {reason: string, until?: string}, regions?: Governance[], priorities?: Governance[], holds?: {binding?: string, cluster?: string, reason: string, until?: string}[], holdCount?: number, releases?: number, quarantined?: number, profile?: string}} LiveGovernor */
/**
 * @typedef {object} LiveTotals
 * @property {{all: number, ready: number, tainted: number, draining: number}} clusters
 * @property {Record<'settled' | 'unhealthy' | 'scheduled' | 'evicting' | 'blocked' | 'unschedulable', number>} workloads
 * @property {{placed: number, available: number, evicting: number, unschedulable: number}} replicas
 * @property {Progress} evictions
 * @property {Record<string, number>} blockedBy
 */
/** @typedef {{format?: string, version?: number, at: string, totals?: LiveTotals, governor?: LiveGovernor, clusters?: Record<string, LiveCluster | null>, evictions?: Record<string, LiveEviction | null>}} LiveMessage */

/** The version of the JSON that this page reads. */
export const readableLive = 1;

export class LiveModel {
  constructor() {
    /** @type {LiveTotals | null} */
    this.totals = null;
    /** @type {LiveGovernor} */
    this.governor = {};
    /** @type {Map<string, LiveCluster>} */
    this.clusters = new Map();
    /** @type {Map<string, LiveEviction>} */
    this.evictions = new Map();
    /** How far the clock of the daemon is ahead of that of the browser, in milliseconds. */
    this.ahead = 0;
    /** When the daemon was last heard, by the clock of the browser. */
    this.heard = 0;
  }

  /**
   * Takes a message.
   * @param {LiveMessage} m
   * @param {number} now the clock of the browser
   */
  apply(m, now) {
    if (m.format) {
      if (m.version !== readableLive) throw new Error(`version ${m.version} of the picture is not known, only ${readableLive}: load this page again`);
      this.clusters.clear();
      this.evictions.clear();
    } else if (!this.totals) return;
    const at = Date.parse(m.at);
    this.ahead = at - now;
    this.heard = now;
    if (m.governor) this.governor = m.governor;
    put(this.clusters, m.clusters);
    put(this.evictions, m.evictions);
    if (m.totals) this.totals = m.totals;
  }

  /** The clock of the daemon. @param {number} now that of the browser */
  clock(now) { return now + this.ahead; }

  /**
   * The clusters by name, those first that are not as they must be.
   * @param {string[]} words that a name or a region must hold, all of them
   */
  rows(words) {
    return [...this.clusters].filter(([name, c]) => holds(words, `${name} ${c.region ?? ''} ${c.provider ?? ''}`)).sort(([a, x], [b, y]) => worry(y) - worry(x) || order(a, b));
  }

  /**
   * Evictions: blocked ones first, then those under way, then those scheduled; each by deadline.
   * @param {string[]} words
   * @returns {[string, LiveEviction][]}
   */
  due(words) {
    return [...this.evictions].filter(([, e]) => holds(words, `${e.namespace ?? ''}/${e.name} ${e.cluster}`))
      .sort(([a, x], [b, y]) => ranks[x.state] - ranks[y.state] || order(x.deadline ?? '', y.deadline ?? '') || order(a, b));
  }
}

/** @type {Record<string, number>} */
const ranks = { Blocked: 0, Evicting: 1, Scheduled: 2 };

/** @param {string} a @param {string} b */
function order(a, b) { return a < b ? -1 : a > b ? 1 : 0; }

/** @param {LiveCluster} c */
function worry(c) { return (c.ready === 'True' ? 0 : 4) + (c.taintCount ? 2 : 0) + (c.drain ? 1 : 0); }

/** @param {string[]} words @param {string} text */
function holds(words, text) {
  const lower = text.toLowerCase();
  return words.every((w) => lower.includes(w));
}

/** @template T @param {Map<string, T>} into @param {Record<string, T | null> | undefined} rows */
function put(into, rows) {
  for (const [key, row] of Object.entries(rows ?? {})) {
    if (row === null) into.delete(key);
    else into.set(key, row);
  }
}

/**
 * How long it is until an instant: "in 1m5s", "due", "4s ago".
 * @param {string | undefined} instant
 * @param {number} now
 */
export function until(instant, now) {
  if (!instant) return '';
  const left = Math.round((Date.parse(instant) - now) / 1000);
  if (left > 0) return `in ${spanText(left * 1000)}`;
  return left > -2 ? 'due' : `${spanText(-left * 1000)} ago`;
}

/** The time of day of an instant, as the user's clock has it. @param {number} at */
export function timeOfDay(at) { return new Date(at).toTimeString().slice(0, 8); }

/** @typedef {{namespace?: string, name: string, fromCluster: string, toClusters?: {name: string, replicas?: number}[], at: string, message?: string}} PreviewedEviction */
/** @typedef {{summary?: string[], evictions?: PreviewedEviction[], evicted: number, unschedulable: number, unschedulableBindings?: {namespace?: string, name: string, message: string}[], warnings?: string[]}} PreviewStatus */
/** @typedef {{title: string, status: PreviewStatus, notes: string[]}} Preview */

/**
 * What a preview does to each cluster: bindings that would be evicted from it, and that it would take.
 * @param {PreviewStatus} status
 * @returns {Map<string, {from: number, to: number}>}
 */
export function moves(status) {
  /** @type {Map<string, {from: number, to: number}>} */
  const all = new Map();
  const of = (/** @type {string} */ name) => {
    let m = all.get(name);
    if (!m) all.set(name, m = { from: 0, to: 0 });
    return m;
  };
  for (const e of status.evictions ?? []) {
    of(e.fromCluster).from++;
    for (const t of e.toClusters ?? []) of(t.name).to++;
  }
  return all;
}

/** The clusters of a placement: "m1:2 m3". @param {{name: string, replicas?: number}[] | undefined} clusters */
export function placementText(clusters) { return (clusters ?? []).map((c) => (c.replicas ? `${c.name}:${c.replicas}` : c.name)).join(' '); }

/**
 * Reads server-sent events from pieces of text: each whole one is told.
 * @param {(event: string, data: string) => void} tell
 */
export function eventReader(tell) {
  let rest = '';
  return (/** @type {string} */ piece) => {
    rest += piece;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      let event = 'message';
      const data = [];
      for (const line of rest.slice(0, end).split('\n')) {
        if (line.startsWith('event: ')) event = line.slice(7);
        else if (line.startsWith('data: ')) data.push(line.slice(6));
      }
      rest = rest.slice(end + 2);
      if (data.length) tell(event, data.join('\n'));
    }
  };
}
