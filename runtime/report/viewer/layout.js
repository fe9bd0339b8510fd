// Layout: which rows a view has, what is drawn on each, and what lies under a pointer.
import { outcomes, namespaceOf } from './model.js';
import { lowerBound } from './scale.js';

/** @typedef {import('./model.js').Model} LayoutModel */
/** @typedef {import('./model.js').Bar} LayoutBar */
/** @typedef {import('./model.js').Track} LayoutTrack */
/** @typedef {import('./scale.js').Axis} LayoutAxis */
/** @typedef {import('./scale.js').View} LayoutView */
/**
 * @typedef {object} Row
 * @property {string} key
 * @property {'section' | 'group' | 'lane'} type
 * @property {string} label
 * @property {string} note what is said beside the label
 * @property {number} depth
 * @property {boolean} opens whether there are rows below it
 * @property {boolean} open
 * @property {boolean} [pinned]
 * @property {number[]} [members] the workloads of a group
 */
/** @typedef {{bars: LayoutBar[], address: string, top: number, height: number, front?: boolean}} Layer bars on a part of a row's height, 0 to 1 */

/** Rows above which a group is closed at first, and above which workloads are grouped by namespace. */
export const largeGroup = 200;
/** Up to so many workloads need no groups, and are open at first. */
export const fewWorkloads = 12;

/**
 * All rows of a view, in order.
 * @param {LayoutModel} m
 * @param {{workloads: number[], clusters: number[], group: string, toggled: Set<string>, pins: string[], filtered: boolean, pinned?: string}} v what is pinned may be called so
 * @returns {Row[]}
 */
export function rowsOf(m, v) {
  /** @type {Row[]} */
  const rows = [];
  /** @param {string} key @param {boolean} first */
  const isOpen = (key, first) => v.toggled.has(key) !== first;
  /** @param {Partial<Row> & {key: string, label: string}} row */
  const add = (row) => rows.push({ type: 'lane', note: '', depth: 0, opens: false, open: false, ...row });

  const pins = v.pins.filter((key) => /^[wc]\d+$/.test(key) && (key[0] === 'w' ? m.run.workloads : m.run.clusters)[Number(key.slice(1))]);
  if (pins.length) add({ key: 's:pinned', type: 'section', label: v.pinned ?? 'Pinned', note: String(pins.length) });
  for (const key of pins) {
    const i = Number(key.slice(1));
    add({ key: `p:${key}`, label: key[0] === 'w' ? m.run.workloads[i].name : m.run.clusters[i].name, pinned: true });
    if (key[0] === 'w' && i < m.firstPod) addClusters(i, `p:${key}`, true);
  }
  if (m.run.expectations.length) {
    const failed = m.run.expectations.filter((e) => !e.passed).length;
    add({ key: 'e', label: 'Expectations', note: failed ? `${failed} failed` : 'all held' });
  }
  if (m.run.inputs.length) add({ key: 'i', label: 'Inputs' });
  if (m.run.governor.length) addTracks('g', 'Governor', m.run.governor, false);

  places('Clusters', v.clusters.filter((c) => c < m.firstNode));
  places('Nodes', v.clusters.filter((c) => c >= m.firstNode));
  loads('Workloads', v.workloads.filter((w) => w < m.firstPod));
  loads('Pods', v.workloads.filter((w) => w >= m.firstPod));
  return rows;

  /** Clusters, or nodes: those to which nothing happened are a group, and many others one for each region or zone. @param {string} label @param {number[]} list */
  function places(label, list) {
    const key = label === 'Nodes' ? 'G:calm-nodes' : 'G:calm';
    const regionOf = (/** @type {number} */ c) => m.run.clusters[c].region ?? '';
    /** @param {string} key @param {string} label @param {number[]} list @param {boolean} first */
    const group = (key, label, list, first) => {
      if (!list.length) return;
      const open = isOpen(key, first);
      add({ key, type: 'group', label, note: String(list.length), depth: 1, opens: true, open, members: [] });
      if (open) list.forEach(cluster);
    };
    const cluster = (/** @type {number} */ c) => addTracks(`c${c}`, m.run.clusters[c].name, m.run.clusters[c].tracks, false, regionOf(c));
    section(label, list.length, () => {
      const calm = list.filter((c) => m.isCalm(m.run.clusters[c]));
      const others = list.filter((c) => !m.isCalm(m.run.clusters[c]));
      if (others.length > largeGroup) [...new Set(others.map(regionOf))].forEach((r, i) => group(`${key}-${i}`, r || '(none)', others.filter((c) => regionOf(c) === r), false));
      else others.forEach(cluster);
      group(key, 'unchanged', calm, calm.length <= 2);
    }, !v.filtered);
  }

  /** Workloads, or pods. @param {string} label @param {number[]} list */
  function loads(label, list) { section(label, list.length, () => groups(list, label === 'Pods' ? 'P' : 'G'), true); }

  /** @param {string} label @param {number} count @param {() => void} inside @param {boolean} first */
  function section(label, count, inside, first) {
    if (!count) return;
    const key = `s:${label.toLowerCase()}`;
    const open = isOpen(key, first);
    add({ key, type: 'section', label, note: String(count), opens: true, open });
    if (open) inside();
  }

  /** @param {string} key @param {string} label @param {LayoutTrack[]} tracks @param {boolean} first @param {string} [note] */
  function addTracks(key, label, tracks, first, note = '', depth = key[0] === 'g' ? 0 : 1) {
    const opens = tracks.length > 1;
    const open = opens && isOpen(key, first);
    add({ key, label, note, depth, opens, open });
    if (open) tracks.forEach((t, i) => add({ key: `${key}/-/${i}`, label: m.text(t.name), depth: depth + 2 }));
  }

  /** @param {number[]} list @param {string} letter that keys of its groups begin with */
  function groups(list, letter) {
    if (v.group === 'none' || list.length <= fewWorkloads) {
      list.forEach((w) => addWorkload(w, 1, list.length <= fewWorkloads));
      return;
    }
    const name = (/** @type {number} */ w) => groupOf(m, v.group, w);
    /** @type {Map<string, number[]>} */
    const by = new Map();
    for (const w of list) {
      const members = by.get(name(w));
      if (members) members.push(w);
      else by.set(name(w), [w]);
    }
    const order = v.group === 'outcome' ? outcomes : [...by.keys()].sort(v.group === 'namespace' ? undefined : (a, b) => a.localeCompare(b, 'en', { numeric: true }));
    const many = list.length > 10 * largeGroup;
    order.forEach((label, i) => {
      const members = by.get(label);
      if (!members) return;
      const key = `${letter}:${v.group === 'outcome' ? 'o' : `${v.group}-`}${i}`;
      const small = members.length <= largeGroup && !(v.group !== 'outcome' && many);
      const open = isOpen(key, small && !(label === 'unchanged' && members.length > 12 && by.size > 1));
      add({ key, type: 'group', label: label || `(no ${v.group})`, note: String(members.length), depth: 1, opens: true, open, members });
      if (open) members.forEach((w) => addWorkload(w, 2, false));
    });
  }

  /** @param {number} w @param {number} depth @param {boolean} first */
  function addWorkload(w, depth, first) {
    const key = `w${w}`;
    const note = v.group === 'outcome' ? '' : m.run.workloads[w].outcome;
    if (w >= m.firstPod) {
      addTracks(key, m.run.workloads[w].name, m.run.workloads[w].tracks, false, note, depth);
      return;
    }
    const opens = m.run.workloads[w].on.length > 0;
    const open = opens && isOpen(key, first);
    add({ key, label: m.run.workloads[w].name, note, depth, opens, open });
    if (open) addClusters(w, key, false);
  }

  /** @param {number} w @param {string} above @param {boolean} pinned */
  function addClusters(w, above, pinned) {
    m.run.workloads[w].on.forEach((o, i) => add({ key: `${above}/${i}`, label: `on ${m.run.clusters[o.cluster].name}`, depth: 3, pinned }));
  }
}

/** How the groups of a kind are called in which a workload or a pod is. A pod is on the last of its nodes. @param {LayoutModel} m @param {string} group @param {number} i */
function groupOf(m, group, i) {
  const w = m.run.workloads[i];
  const at = m.run.clusters[w.on[w.on.length - 1]?.cluster];
  switch (group) {
    case 'namespace': return namespaceOf(w.name);
    case 'node': return at?.name ?? '';
    case 'zone': return at?.region ?? '';
    case 'owner': return m.text(w.owner ?? -1);
    default: return w.outcome;
  }
}

/**
 * What is drawn on a row, the last in front. An address is that of the tracks' owner: bars get theirs by addressOf.
 * @param {LayoutModel} m
 * @param {string} key
 * @returns {Layer[]}
 */
export function layersOf(m, key) {
  const [owner, on, track] = key.replace(/^p:/, '').split('/');
  const i = Number(owner.slice(1));
  const run = m.run;
  if (owner === 'e') return [];
  if (on === '-') return layer(`${owner}/-`, tracksAt(m, owner), [Number(track)], 0.1, 0.8);
  if (owner[0] === 'c' && i >= m.firstNode) return nodeLayers(m, owner, tracksAt(m, owner));
  if (owner[0] !== 'w') return sorted(m, layer(`${owner}/-`, tracksAt(m, owner), null, 0.1, 0.8)).filter((l) => m.kind(l.bars[0]) !== 'placed');
  const w = run.workloads[i];
  if (!w) return [];
  if (i >= m.firstPod) return onLayers(m, `${owner}/-`, w.tracks, 0.08, 0.84);
  if (on !== undefined) return w.on[Number(on)] ? onLayers(m, `${owner}/${on}`, w.on[Number(on)].tracks, 0.08, 0.84) : [];
  const shown = Math.min(w.on.length, 6);
  const layers = w.on.flatMap((o, n) => onLayers(m, `${owner}/${n}`, o.tracks, 0.08 + (0.84 * Math.min(n, shown - 1)) / shown, 0.84 / shown));
  return [...layers, ...layer(`${owner}/-`, w.tracks, null, 0.1, 0.8)];
}

/** @param {LayoutModel} m @param {string} owner @returns {LayoutTrack[]} */
function tracksAt(m, owner) {
  const i = Number(owner.slice(1));
  switch (owner[0]) {
    case 'c': return m.run.clusters[i]?.tracks ?? [];
    case 'w': return m.run.workloads[i]?.tracks ?? [];
    case 'g': return m.run.governor;
    case 'i': return m.run.inputs;
    default: return [];
  }
}

/** @param {string} address @param {LayoutTrack[]} tracks @param {number[] | null} only @param {number} top @param {number} height @returns {Layer[]} */
function layer(address, tracks, only, top, height) {
  return tracks.map((t, i) => ({ bars: t.bars, address: `${address}/${i}`, top, height })).filter((_, i) => !only || only.includes(i));
}

/** A workload on one cluster, or a pod: its copy, or whether it is ready, is a thin line below what is decided of it. @param {LayoutModel} m @param {string} address @param {LayoutTrack[]} tracks @param {number} top @param {number} height @returns {Layer[]} */
function onLayers(m, address, tracks, top, height) {
  const all = layer(address, tracks, null, top, height);
  return all.map((l, i) => {
    const name = m.text(tracks[i].name);
    if (name === 'copy' || name === 'ready') return { ...l, top: top + height * 0.74, height: height * 0.26 };
    return name === 'available' ? { ...l, top: top + height * 0.74, height: height * 0.26, front: true } : { ...l, height: height * 0.7 };
  }).sort((a, b) => Number(a.front ?? false) - Number(b.front ?? false));
}

/** A node: where it is more than tainted, its taints are a thin line below what it is, with the marks. @param {LayoutModel} m @param {string} owner @param {LayoutTrack[]} tracks @returns {Layer[]} */
function nodeLayers(m, owner, tracks) {
  const low = tracks.map((t) => /^(taint |events$)/.test(m.text(t.name)));
  return sorted(m, layer(`${owner}/-`, tracks, null, 0.1, 0.8).map((l, i) => (low.every(Boolean) ? l : low[i] ? { ...l, top: 0.7, height: 0.22 } : { ...l, height: 0.58 })));
}

/** The worst in front, by the order of kinds. @param {LayoutModel} m @param {Layer[]} layers @returns {Layer[]} */
function sorted(m, layers) {
  /** @type {Map<number, Layer[]>} */
  const by = new Map();
  for (const l of layers) {
    l.bars.forEach((bar, i) => {
      const same = by.get(bar[0]) ?? [];
      same.push({ ...l, bars: [bar], address: `${l.address}/${i}` });
      by.set(bar[0], same);
    });
  }
  return [...by.keys()].sort((a, b) => a - b).flatMap((k) => by.get(k) ?? []);
}

/** The address of a bar of a layer. @param {Layer} l @param {LayoutBar} bar */
export function addressOf(l, bar) { return l.address.split('/').length === 4 ? l.address : `${l.address}/${l.bars.indexOf(bar)}`; }

/**
 * The bar of an address, and its track.
 * @param {LayoutModel} m
 * @param {string} address w3/1/0/2: workload 3, its second cluster, first track, third bar; c2/-/0/1: a cluster's
 * @returns {{bar: LayoutBar, track: LayoutTrack, owner: string, on: number} | null}
 */
export function barOf(m, address) {
  const [owner, on, track, bar] = address.split('/');
  if (bar === undefined) return null;
  const tracks = on === '-' ? tracksAt(m, owner) : m.run.workloads[Number(owner.slice(1))]?.on[Number(on)]?.tracks;
  const t = tracks?.[Number(track)];
  const b = t?.bars[Number(bar)];
  return t && b ? { bar: b, track: t, owner, on: on === '-' ? -1 : Number(on) } : null;
}

/** All bars of a row in order of time, with their addresses. @param {LayoutModel} m @param {string} key @returns {{bar: LayoutBar, address: string}[]} */
export function barsOf(m, key) {
  return layersOf(m, key).flatMap((l) => l.bars.map((bar) => ({ bar, address: addressOf(l, bar) }))).sort((a, b) => a.bar[1] - b.bar[1]);
}

/**
 * What lies at a place of a row: of several bars the one in front, and marks within a few pixels.
 * @param {LayoutModel} m
 * @param {string} key
 * @param {number} t instant of the pointer
 * @param {number} y 0 to 1
 * @param {number} near how long a few pixels are
 * @returns {string} an address; '': nothing
 */
export function hit(m, key, t, y, near) {
  let found = '';
  let closest = Infinity;
  for (const l of layersOf(m, key)) {
    if (y < l.top - 0.02 || y > l.top + l.height + 0.02) continue;
    for (const bar of l.bars) {
      const kind = m.kind(bar);
      if (kind === 'mark' || kind === 'warning' || bar[1] === bar[2]) {
        const away = Math.abs(bar[1] - t);
        if (away <= near && away < closest) {
          closest = away;
          found = addressOf(l, bar);
        }
      } else if (closest === Infinity && t >= bar[1] - near / 4 && t <= m.ends(bar) + near / 4) found = addressOf(l, bar);
    }
  }
  return found;
}

/** The rows that a scroller shows. @param {number} top @param {number} height @param {number} row @param {number} count */
export function visibleRows(top, height, row, count) {
  const first = Math.max(0, Math.min(count, Math.floor(top / row)));
  return { first, last: Math.min(count, Math.ceil((top + height) / row)) };
}

/** What a group of workloads, or of pods, counts over time, the worst last. */
export const densities = /** @type {const} */ ([
  { name: 'starting', kinds: ['starting', 'pending'], words: 'starting', pods: 'pending' },
  { name: 'countdown', kinds: ['countdown', 'blocked'], words: 'eviction scheduled or blocked', pods: 'eviction scheduled or blocked' },
  { name: 'evicting', kinds: ['evicting', 'terminating'], words: 'evicting', pods: 'evicting or terminating' },
  { name: 'unhealthy', kinds: ['unhealthy', 'unschedulable'], words: 'unhealthy', pods: 'not ready or unschedulable' },
]);

/**
 * How many of a group's workloads are in each state of densities, by parts of the view.
 * @param {LayoutModel} m
 * @param {number[]} members
 * @param {LayoutAxis} axis
 * @param {LayoutView} view
 * @param {number} parts
 * @returns {Uint32Array[]}
 */
export function density(m, members, axis, view, parts) {
  const of = new Int8Array(m.run.kinds.length).fill(-1);
  densities.forEach((d, i) => d.kinds.forEach((k) => { if (m.run.kinds.includes(k)) of[m.run.kinds.indexOf(k)] = i; }));
  const counts = densities.map(() => new Int32Array(parts + 1));
  const bounds = Float64Array.from({ length: parts + 1 }, (_, i) => axis.instant(view.from + ((view.to - view.from) * i) / parts));
  /** @param {LayoutBar} bar */
  const count = (bar) => {
    const d = of[bar[0]];
    const end = m.ends(bar);
    if (d < 0 || end < bounds[0] || bar[1] > bounds[parts]) return;
    const first = Math.min(parts - 1, Math.max(0, lowerBound(bounds, bar[1] + 1e-6) - 1));
    const last = Math.min(parts - 1, Math.max(first, lowerBound(bounds, end) - 1));
    counts[d][first]++;
    counts[d][last + 1]--;
  };
  for (const i of members) {
    for (const t of m.run.workloads[i].tracks) t.bars.forEach(count);
    for (const o of m.run.workloads[i].on) for (const t of o.tracks) t.bars.forEach(count);
  }
  return counts.map((c) => {
    const sums = new Uint32Array(parts);
    let sum = 0;
    for (let i = 0; i < parts; i++) sums[i] = sum += c[i];
    return sums;
  });
}
