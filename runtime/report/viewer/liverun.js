// The live picture over time, as a run of docs/viewer-data.md that grows: the same charts and lanes show it. Instants are milliseconds
// since its beginning, which is when the daemon remembers the fleet from, or when what went on by then began. It keeps what the page was told
// and no more, within bounds.
import { looks } from './paint.js';

/** @typedef {import('./model.js').RunData} RunData */
/** @typedef {import('./model.js').Track} LiveTrack */
/** @typedef {import('./livemodel.js').LiveModel} PictureModel */
/** @typedef {import('./livemodel.js').LiveCluster} PictureCluster */
/** @typedef {import('./livemodel.js').LiveEviction} PictureEviction */
/** @typedef {{track: string, kind: string, label: string, from?: number, until?: number}} State what is so: of its track, since and until when as far as that is known */
/** @typedef {{name: string, replicas?: number}} LiveTarget */
/**
 * A binding, as the API has it.
 * @typedef {object} BindingObject
 * @property {{name: string, namespace?: string, labels?: Record<string, string>}} metadata
 * @property {{replicas?: number, clusters?: LiveTarget[], gracefulEvictionTasks?: {fromCluster: string, creationTimestamp?: string}[]}} [spec]
 * @property {{conditions?: {type: string, status: string, reason?: string, message?: string}[], aggregatedStatus?: {clusterName: string, health?: string, readyReplicas?: number, startingSince?: string}[],
 *   evictions?: {cluster: string, state: string, deadline?: string, taint?: string, reason?: string, message?: string}[]}} [status]
 */

/** How long before the first picture a run may begin. */
const longestBefore = 3600_000;

/** When a run begins: with the first that still goes on, as far as it tells when. @param {PictureModel} m @param {number} now the clock of the daemon */
export function beginning(m, now) {
  const instants = [...m.evictions.values()].map((e) => e.since);
  for (const c of m.clusters.values()) instants.push(c.ready === 'True' ? undefined : c.since, ...(c.taintedAt ?? []).map((t) => t ?? undefined));
  const known = instants.map((i) => Date.parse(i ?? '')).filter((t) => t > now - longestBefore && t < now);
  const first = Math.min(now, ...known);
  return first - (now - first) * 0.05;
}

/** Kinds of bars, from what a summary shows last to what it shows first. */
const liveKinds = Object.keys(looks);

/** Most bars of a track, rows of figures, texts, clusters, and workloads: of these so many, and no fewer than half of them, are kept. */
const mostBars = 200;
const mostFigures = 3600;
const mostTexts = 20_000;
const mostLiveClusters = 1000;
export const mostLiveWorkloads = 600;

const figures = /** @type {const} */ (['placed', 'available', 'evicting', 'unschedulable']);
const evictionKinds = /** @type {Record<string, [string, string, string]>} */ ({ Scheduled: ['countdown', 'eviction scheduled', 'eviction scheduled'], Blocked: ['blocked', 'eviction blocked', 'blocked'], Evicting: ['evicting', 'evicting', 'evicting'] });

export class LiveRun {
  /** @param {number} began by the clock of the daemon @param {number} [opened] when the first picture is of */
  constructor(began, opened = began) {
    this.began = began;
    /** When the first picture is of: what was before is known as far as what went on then tells when it began. */
    this.opened = opened - began;
    this.now = this.opened;
    /** @type {RunData} */
    this.run = { name: 'live', seed: 0, profile: '', passed: true, end: 0, expectations: [], strings: [''], kinds: liveKinds, clusters: [], workloads: [], governor: [], inputs: [], reasons: [], regions: [], omitted: { facts: 0, workloads: 0 },
      facts: { at: [], kind: [], level: [], workload: [], cluster: [], text: [], why: [], reason: [] }, replicas: { at: [], placed: [], available: [], evicting: [], unschedulable: [] } };
    /** @type {Map<string, number>} */
    this.texts = new Map([['', 0]]);
    /** @type {Map<string, number>} */
    this.clusters = new Map();
    /** @type {Map<string, number>} */
    this.workloads = new Map();
    /** Workloads that are followed by themselves, as they were last heard. @type {Map<string, BindingObject>} */
    this.objects = new Map();
    /** The last bar of tracks, where it has not ended: its kind and label, and until when it goes as far as that is known. @type {Map<LiveTrack, {says: string, until: number}>} */
    this.open = new Map();
    /** Kinds of bars that there ever were. @type {Set<string>} */
    this.had = new Set();
  }

  /** @param {string} text */
  text(text) {
    let i = this.texts.get(text);
    if (i === undefined) {
      if (this.run.strings.length >= mostTexts) return 0;
      i = this.run.strings.push(text) - 1;
      this.texts.set(text, i);
    }
    return i;
  }

  /** An instant of the daemon as one of the run: none is before it began. @param {string | undefined} instant */
  at(instant) {
    const t = Date.parse(instant ?? '') - this.began;
    return Number.isFinite(t) ? Math.max(0, t) : undefined;
  }

  /** @param {string} name @returns {number} -1: there are too many */
  cluster(name) {
    let i = this.clusters.get(name);
    if (i === undefined) {
      if (this.run.clusters.length >= mostLiveClusters) return -1;
      i = this.run.clusters.push({ name, tracks: [] }) - 1;
      this.clusters.set(name, i);
    }
    return i;
  }

  /** @param {string} name */
  workload(name) {
    let i = this.workloads.get(name);
    if (i === undefined) {
      i = this.run.workloads.push({ name, outcome: 'unchanged', tracks: [], on: [] }) - 1;
      this.workloads.set(name, i);
    }
    return this.run.workloads[i];
  }

  /**
   * Has tracks show what is so: bars begin, go on, and end.
   * @param {LiveTrack[]} tracks
   * @param {State[]} states one of a track
   */
  say(tracks, states) {
    for (const t of tracks) if (this.open.has(t) && !states.some((s) => s.track === this.run.strings[t.name])) this.end(t);
    for (const s of states) {
      let t = tracks.find((x) => this.run.strings[x.name] === s.track);
      if (!t) tracks.push(t = { name: this.text(s.track), bars: [] });
      const says = `${s.kind}|${s.label}`;
      const had = this.open.get(t);
      if (had?.says === says) {
        had.until = s.until ?? -1;
        continue;
      }
      const earliest = this.end(t);
      const from = Math.min(this.now, Math.max(earliest, (t.bars.length ? undefined : s.from) ?? this.now));
      t.bars.push([liveKinds.indexOf(s.kind), from, this.now, this.text(s.label)]);
      if (t.bars.length > mostBars) t.bars.shift();
      this.open.set(t, { says, until: s.until ?? -1 });
      this.had.add(s.kind);
    }
    this.reach(tracks);
  }

  /** Ends what is so of a track now. @param {LiveTrack} t @returns {number} when its last bar ends */
  end(t) {
    const last = t.bars[t.bars.length - 1];
    if (this.open.delete(t)) last[2] = this.now;
    return last?.[2] ?? 0;
  }

  /** Bars that have not ended reach until now, or until they will end. @param {Iterable<LiveTrack>} tracks */
  reach(tracks) {
    for (const t of tracks) {
      const o = this.open.get(t);
      if (o) t.bars[t.bars.length - 1][2] = Math.max(o.until, this.now);
    }
  }

  /** Time passes. @param {number} now the clock of the daemon */
  tick(now) {
    this.now = Math.max(this.now, now - this.began);
    this.reach(this.open.keys());
    // As far as the next deadlines, but no more than half of it has not come yet.
    const ahead = Math.max(60_000, this.now);
    let furthest = 0;
    for (const { until } of this.open.values()) if (until > this.now) furthest = Math.max(furthest, Math.min(until - this.now, ahead));
    this.run.end = Math.max(60_000, this.now + (furthest ? furthest * 1.08 : this.now * 0.02));
  }

  /** Takes the picture as it is now. @param {PictureModel} m @param {number} now the clock of the daemon @returns {boolean} whether lanes have other numbers than before */
  take(m, now) {
    this.tick(now);
    for (const [name, c] of m.clusters) {
      const i = this.cluster(name);
      if (i < 0) continue;
      Object.assign(this.run.clusters[i], { region: c.region, provider: c.provider });
      this.say(this.run.clusters[i].tracks, clusterStates(c, (instant) => this.at(instant)));
    }
    for (const [name, i] of this.clusters) if (!m.clusters.has(name)) this.say(this.run.clusters[i].tracks, []);
    this.say(this.run.governor, governorStates(m));
    this.takeEvictions(m);
    if (m.totals) this.note(m.totals.replicas);
    return this.compact();
  }

  /** @param {PictureModel} m */
  takeEvictions(m) {
    /** @type {Map<string, PictureEviction[]>} */
    const by = new Map();
    for (const e of m.evictions.values()) {
      const name = e.namespace ? `${e.namespace}/${e.name}` : e.name;
      by.set(name, [...by.get(name) ?? [], e]);
      this.workload(name);
    }
    for (const [name, i] of this.workloads) {
      if (this.objects.has(name)) continue;
      const w = this.run.workloads[i];
      const evictions = by.get(name) ?? [];
      this.sayOn(w, new Map(evictions.map((e) => [e.cluster, [this.evictionState(e)]])));
      w.outcome = outcomeOf(evictions.map((e) => e.state), w.on.length > 0 ? 'evicted' : 'unchanged');
    }
  }

  /** @param {{state: string, deadline?: string, reason?: string, since?: string}} e @returns {State} */
  evictionState(e) {
    const [kind, , words] = evictionKinds[e.state] ?? ['neutral', '', e.state];
    return { track: 'eviction', kind, label: e.state === 'Blocked' && e.reason ? `${words}: ${e.reason}` : words, from: this.at(e.since), until: e.state === 'Scheduled' ? this.at(e.deadline) : undefined };
  }

  /** What is so of a workload on each of its clusters. @param {RunData['workloads'][0]} w @param {Map<string, State[]>} states */
  sayOn(w, states) {
    for (const name of states.keys()) {
      const cluster = this.cluster(name);
      if (cluster >= 0 && !w.on.some((o) => o.cluster === cluster)) w.on.push({ cluster, tracks: ['placement', 'eviction', 'copy'].map((t) => ({ name: this.text(t), bars: [] })) }); // the last is in front
    }
    for (const o of w.on) this.say(o.tracks, states.get(this.run.clusters[o.cluster].name) ?? []);
  }

  /** A workload that is followed by itself, as it is now; null: it was deleted. @param {string} name @param {BindingObject | null} o @param {number} now */
  object(name, o, now) {
    this.tick(now);
    const w = this.workload(name);
    if (!o) {
      this.objects.delete(name);
      this.say(w.tracks, []);
      this.sayOn(w, new Map());
      w.outcome = 'deleted';
      return;
    }
    const before = this.objects.get(name);
    this.objects.set(name, o);
    w.labels = Object.entries(o.metadata.labels ?? {}).slice(0, 20).map(([k, v]) => this.text(`${k}=${v}`));
    const scheduled = o.status?.conditions?.find((c) => c.type === 'Scheduled');
    const refused = scheduled?.status === 'False';
    this.say(w.tracks.filter((t) => this.run.strings[t.name] !== 'decisions'), []);
    if (refused) this.say(w.tracks, [{ track: 'scheduling', kind: 'unschedulable', label: `unschedulable: ${scheduled?.reason ?? ''}` }]);
    const [to, was] = [placementOf(o), before && placementOf(before)];
    if (before && to !== was) this.mark(w.tracks, `placement ${to || 'none'}`);
    const states = this.copies(o);
    this.sayOn(w, states);
    const evictions = (o.status?.evictions ?? []).map((e) => e.state);
    const impaired = [...states.values()].flat().some((s) => s.kind === 'unhealthy' || s.kind === 'starting');
    w.outcome = refused ? 'unschedulable' : outcomeOf(evictions, impaired ? 'unhealthy' : was && to !== was ? 'rescheduled' : w.outcome === 'rescheduled' || w.outcome === 'evicted' ? w.outcome : 'unchanged');
  }

  /** What is so of each copy. @param {BindingObject} o */
  copies(o) {
    /** @type {Map<string, State[]>} */
    const states = new Map();
    const put = (/** @type {string} */ cluster, /** @type {State} */ s) => states.set(cluster, [...states.get(cluster) ?? [], s]);
    const reported = new Map((o.status?.aggregatedStatus ?? []).map((s) => [s.clusterName, s]));
    for (const t of o.spec?.clusters ?? []) {
      const wanted = t.replicas ?? o.spec?.replicas ?? 0;
      put(t.name, { track: 'placement', kind: 'placed', label: `placed ×${wanted}` });
      put(t.name, copyState(reported.get(t.name), wanted));
    }
    for (const [name, s] of reported) if (!states.has(name)) put(name, copyState(s, 0));
    const started = new Map((o.spec?.gracefulEvictionTasks ?? []).map((t) => [t.fromCluster, t.creationTimestamp]));
    for (const e of o.status?.evictions ?? []) put(e.cluster, this.evictionState({ ...e, since: e.state === 'Evicting' ? started.get(e.cluster) : undefined }));
    return states;
  }

  /** Follows a workload by itself no longer. @param {string} name */
  forget(name) { this.objects.delete(name); }

  /** @param {LiveTrack[]} tracks @param {string} label */
  mark(tracks, label) {
    let t = tracks.find((x) => this.run.strings[x.name] === 'decisions');
    if (!t) tracks.push(t = { name: this.text('decisions'), bars: [] });
    t.bars.push([liveKinds.indexOf('mark'), this.now, this.now, this.text(label)]);
    if (t.bars.length > mostBars) t.bars.shift();
  }

  /** @param {Record<typeof figures[number], number>} r */
  note(r) {
    const all = this.run.replicas;
    const last = all.at.length - 1;
    if (last >= 0 && figures.every((f) => all[f][last] === r[f])) return;
    all.at.push(this.now);
    for (const f of figures) all[f].push(r[f]);
    if (all.at.length <= mostFigures) return;
    for (const f of /** @type {const} */ (['at', ...figures])) all[f] = all[f].filter((_, i) => i % 2 === 1);
  }

  /** Drops the workloads of which nothing goes on, if there are too many: the lanes that remain have other numbers. */
  compact() {
    if (this.run.workloads.length <= mostLiveWorkloads) return false;
    const busy = (/** @type {RunData['workloads'][0]} */ w) => this.objects.has(w.name) || [...w.tracks, ...w.on.flatMap((o) => o.tracks)].some((t) => this.open.has(t));
    let spare = Math.max(0, mostLiveWorkloads / 2 - this.run.workloads.filter(busy).length);
    const kept = this.run.workloads.toReversed().filter((w) => busy(w) || spare-- > 0).toReversed();
    this.run.workloads = kept;
    this.workloads = new Map(kept.map((w, i) => [w.name, i]));
    return true;
  }
}

/** @param {PictureCluster} c @param {(instant: string | undefined) => number | undefined} at @returns {State[]} */
function clusterStates(c, at) {
  /** @type {State[]} */
  const states = [{ track: 'condition Ready', kind: c.ready === 'True' ? 'good' : 'bad', label: `Ready=${c.ready}`, from: at(c.since) }];
  (c.taints ?? []).forEach((t, i) => states.push({ track: `taint ${t}`, kind: t.endsWith(':NoExecute') ? 'noExecute' : 'noSchedule', label: t, from: at(c.taintedAt?.[i] ?? undefined) }));
  if (c.drain) states.push({ track: 'drain', kind: 'neutral', label: 'draining', until: c.drain.deadline ? at(c.drain.deadline) : undefined });
  if (c.held) states.push({ track: 'hold', kind: 'slowed', label: `evictions on hold: ${c.held}` });
  const e = c.evictions;
  const [kind, words] = evictionKinds[e.evicting ? 'Evicting' : e.blocked ? 'Blocked' : 'Scheduled'];
  if (e.evicting + e.blocked + e.scheduled) states.push({ track: 'evictions', kind, label: words });
  if (c.available < 0.95 * c.replicas) states.push({ track: 'available', kind: 'starting', label: 'copies not available' });
  if (c.cpuCapacity) {
    const tenth = Math.min(20, Math.floor((10 * (c.cpu ?? 0)) / c.cpuCapacity));
    states.push({ track: 'load', kind: tenth >= 9 ? 'slowed' : 'placed', label: `CPU ${tenth * 10} % or more` });
  }
  return states;
}

/** @param {PictureModel} m @returns {State[]} */
function governorStates(m) {
  const g = m.governor;
  /** @type {State[]} */
  const states = [{ track: 'fleet', kind: (g.state ?? 'Normal') === 'Normal' ? 'good' : 'slowed', label: g.state || 'Normal' }];
  if (g.pause) states.push({ track: 'pause', kind: 'blocked', label: `paused: ${g.pause.reason}` });
  if (g.breaker && g.breaker.state !== 'Closed') states.push({ track: 'breaker', kind: 'slowed', label: `breaker ${g.breaker.state}` });
  return states;
}

/** @param {{health?: string, readyReplicas?: number, startingSince?: string} | undefined} s @param {number} wanted 0: it is an old copy @returns {State} */
function copyState(s, wanted) {
  const ready = s?.readyReplicas ?? 0;
  const words = wanted ? `${ready} of ${wanted} available` : `old copy, ${ready} available`;
  const kind = s?.health === 'Unhealthy' && !s.startingSince ? 'unhealthy' : s && s.health !== 'Healthy' && !s.startingSince && ready >= wanted ? 'unknown' : ready >= wanted && s ? 'healthy' : 'starting';
  return { track: 'copy', kind, label: kind === 'healthy' ? words : `${kind === 'unknown' ? 'health unknown' : kind}, ${words}` };
}

/** @param {BindingObject} o */
function placementOf(o) { return (o.spec?.clusters ?? []).map((c) => (c.replicas ? `${c.name}:${c.replicas}` : c.name)).join(' '); }

/** The worst of the states of evictions, in the words of outcomes. @param {string[]} states @param {string} otherwise */
function outcomeOf(states, otherwise) {
  if (states.includes('Blocked')) return 'blocked';
  if (states.includes('Evicting')) return 'evicting';
  return states.includes('Scheduled') ? 'eviction scheduled' : otherwise;
}
