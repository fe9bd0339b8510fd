// The model: a run of docs/viewer-data.md with what views ask of it.
import { lowerBound } from './scale.js';

/** @typedef {number[]} Bar kind, from, to (-1: it lasts), label, facts */
/** @typedef {{name: number, bars: Bar[]}} Track */
/** @typedef {{cluster: number, tracks: Track[]}} OnCluster */
/** @typedef {{name: string, outcome: string, owner?: number, labels?: number[], tracks: Track[], on: OnCluster[]}} Workload */
/** @typedef {{name: string, region?: string, provider?: string, zones?: string[], labels?: number[], tracks: Track[]}} ClusterData */
/** @typedef {{name: string, zone?: string, tracks: Track[]}} NodeData */
/** @typedef {{name: string, owner: number, outcome: string, nodes: number[], tracks: Track[]}} PodData */
/** @typedef {{at: number[], kind: number[], level: number[], workload: number[], cluster: number[], node?: number[], pod?: number[], text: number[], why: number[], reason: number[]}} FactColumns */
/** @typedef {{at: number[], placed: number[], available: number[], evicting: number[], unschedulable: number[]}} ReplicaColumns */
/** @typedef {{name: string, clusters: number, at: number[], ready: number[], placed: number[], cpu: number[], cpuCapacity: number[], memory: number[], memoryCapacity: number[]}} RegionData */
/**
 * @typedef {object} RunData
 * @property {string} name
 * @property {string} [description]
 * @property {string} [file]
 * @property {number} seed
 * @property {string} profile
 * @property {boolean} passed
 * @property {boolean} [prediction]
 * @property {string} [error]
 * @property {string} [repeat]
 * @property {number} end
 * @property {{text: string, passed: boolean, at: number, reason?: string}[]} expectations
 * @property {string[]} strings
 * @property {string[]} kinds
 * @property {ClusterData[]} clusters
 * @property {Workload[]} workloads
 * @property {NodeData[]} [nodes]
 * @property {PodData[]} [pods]
 * @property {Track[]} governor
 * @property {Track[]} inputs
 * @property {FactColumns} facts
 * @property {[number, number][][]} reasons
 * @property {ReplicaColumns} replicas
 * @property {RegionData[]} regions
 * @property {Record<string, number[]> & {at: number[]}} [podStates]
 * @property {Record<string, number>} omitted
 */

/** Outcomes, the worst first. */
export const outcomes = ['unschedulable', 'blocked', 'evicting', 'terminating', 'eviction scheduled', 'unhealthy', 'pending', 'evicted', 'rescheduled', 'created', 'deleted', 'finished', 'unchanged'];

/** A run and its indexes. Nodes come behind the clusters, as clusters whose regions are zones, and pods behind the workloads, as workloads on nodes. */
export class Model {
  /** @param {RunData} run */
  constructor(run) {
    this.firstNode = run.clusters.length;
    this.firstPod = run.workloads.length;
    if (run.nodes || run.pods) run = this.joined(run);
    this.run = run;
    this.facts = run.facts;
    /** What there is, in words. */
    this.places = joinedWords([this.firstNode > 0, 'clusters'], [run.clusters.length > this.firstNode, 'nodes']);
    this.loads = joinedWords([this.firstPod > 0, 'workloads'], [run.workloads.length > this.firstPod, 'pods']);
    /** Facts that are told: all but those that follow from others. */
    this.told = run.facts.at.map((_, i) => i).filter((i) => run.facts.level[i] > 0);
    this.instants = distinct(this.told.map((i) => run.facts.at[i]), run.end);
    this.namespaces = [...new Set(run.workloads.map((w) => namespaceOf(w.name)))].sort();
    this.regions = [...new Set(run.clusters.map((c) => c.region ?? ''))].filter(Boolean).sort();
  }

  /** @param {RunData} run @returns {RunData} */
  joined(run) {
    const { nodes = [], pods = [], facts } = run;
    const behind = (/** @type {number[]} */ before, /** @type {number[]} */ list, /** @type {number} */ first) => before.map((place, f) => (list[f] >= 0 ? first + list[f] : place));
    return {
      ...run,
      clusters: [...run.clusters, ...nodes.map((n) => ({ ...n, region: n.zone }))],
      workloads: [...run.workloads, ...pods.map((p) => ({ ...p, on: p.nodes.map((n) => ({ cluster: this.firstNode + n, tracks: [] })) }))],
      facts: { ...facts, cluster: behind(facts.cluster, facts.node ?? [], this.firstNode), workload: behind(facts.workload, facts.pod ?? [], this.firstPod) },
    };
  }

  /** Whether something has a label, written in small letters as "key=value". @param {{labels?: number[]}} of @param {string} label */
  isLabelled(of, label) { return (of.labels ?? []).some((i) => this.text(i).toLowerCase() === label); }

  /** @param {number} i */
  text(i) { return this.run.strings[i] ?? ''; }

  /** @param {Bar} bar */
  kind(bar) { return this.run.kinds[bar[0]]; }

  /** @param {Bar} bar */
  ends(bar) { return bar[2] < 0 ? this.run.end : bar[2]; }

  /** What a fact is about, in words. @param {number} f */
  subject(f) {
    const w = this.facts.workload[f];
    const c = this.facts.cluster[f];
    if (w >= 0) return this.run.workloads[w].name;
    return c >= 0 ? this.run.clusters[c].name : '';
  }

  /** A fact in words, without its reason. @param {number} f */
  sentence(f) { return `${this.subject(f)} ${this.text(this.facts.text[f])}`.trim(); }

  /** The parts of a fact's reason. @param {number} f @returns {[string, string][]} */
  reason(f) {
    const r = this.facts.reason[f];
    return r < 0 ? [] : this.run.reasons[r].map(([name, value]) => [this.text(name), this.text(value)]);
  }

  /** Whether nothing has happened to a cluster but what is as it must be. @param {ClusterData} c */
  isCalm(c) { return c.tracks.every((t) => t.bars.every((b) => this.kind(b) === 'good' || this.kind(b) === 'placed')); }

  /** All tracks of a workload. @param {Workload} w @returns {Track[]} */
  tracksOf(w) { return [...w.tracks, ...w.on.flatMap((o) => o.tracks)]; }

  /** The kinds of bars that a workload has at an instant. @param {Workload} w @param {number} t @returns {Set<string>} */
  states(w, t) {
    const states = new Set();
    for (const track of this.tracksOf(w)) {
      const bar = barAt(track.bars, t);
      if (bar && (bar[2] < 0 || t < bar[2] || bar[1] === bar[2])) states.add(this.kind(bar));
    }
    return states;
  }

  /** The last row of columns that begins at or before an instant; -1: none does. @param {{at: number[]}} columns @param {number} t */
  row(columns, t) { return lowerBound(columns.at, Math.floor(t) + 1) - 1; }
}

/** @param {[boolean, string][]} words those that hold, or the first */
function joinedWords(...words) { return words.filter(([is]) => is).map(([, word]) => word).join(' and ') || words[0][1]; }

/** @param {string} name */
export function namespaceOf(name) { return name.includes('/') ? name.slice(0, name.indexOf('/')) : ''; }

/**
 * The last bar that begins at or before an instant.
 * @param {Bar[]} bars
 * @param {number} t
 * @returns {Bar | undefined}
 */
export function barAt(bars, t) {
  let low = 0;
  let high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bars[middle][1] <= t) low = middle + 1;
    else high = middle;
  }
  return bars[low - 1];
}

/** @param {number[]} sorted @param {number} end */
function distinct(sorted, end) {
  const all = [0];
  for (const t of [...sorted, end]) if (t > all[all.length - 1]) all.push(t);
  return all;
}
