// The live picture over time, and links to it: node's own test runner.
import test from 'node:test';
import assert from 'node:assert/strict';
import { beginning, LiveRun, mostLiveWorkloads } from '../../../runtime/report/viewer/liverun.js';
import { LiveModel } from '../../../runtime/report/viewer/livemodel.js';
import { Model } from '../../../runtime/report/viewer/model.js';
import { rowsOf } from '../../../runtime/report/viewer/layout.js';
import { fromLive, toLive } from '../../../runtime/report/viewer/livelink.js';

const t0 = Date.parse('2026-05-01T12:00:00Z');
const after = (/** @type {number} */ s) => new Date(t0 + 1000 * s).toISOString();
const none = { scheduled: 0, blocked: 0, evicting: 0 };
/** @param {any} [more] */
const cluster = (more = {}) => ({ ready: 'True', workloads: 1, replicas: 2, available: 2, evictions: none, ...more });
const totals = { clusters: { all: 1, ready: 1, tainted: 0, draining: 0 }, workloads: {}, replicas: { placed: 4, available: 4, evicting: 0, unschedulable: 0 }, evictions: none, blockedBy: {} };

/** A page that began to look at t0. */
function look() {
  const m = new LiveModel();
  const r = new LiveRun(t0);
  return { m, r, /** @param {number} s @param {any} message */ hear: (s, message) => {
    m.apply({ at: after(s), ...message }, t0 + 1000 * s);
    return r.take(m, t0 + 1000 * s);
  }, /** The bars of a track: kind, from, to in seconds, label. @param {import('../../../runtime/report/viewer/model.js').Track[]} tracks @param {string} name */ bars: (tracks, name) => (tracks.find((t) => r.run.strings[t.name] === name)?.bars ?? []).map(([kind, from, to, label]) => [r.run.kinds[kind], from / 1000, to / 1000, r.run.strings[label]]) };
}

test('what a cluster is told of is bars: they begin, go on and end', () => {
  const { r, hear, bars } = look();
  hear(0, { format: 'leeward.dev/live', version: 1, totals, governor: {}, clusters: { m1: cluster({ since: '2026-01-01T00:00:00Z' }) }, evictions: {} });
  hear(5, { clusters: { m1: cluster({ ready: 'False', since: after(4), taints: ['down:NoExecute'], evictions: { ...none, blocked: 3 }, available: 1, cpu: 95, cpuCapacity: 100 }) } });
  r.tick(t0 + 9000);
  const [m1] = r.run.clusters;
  assert.deepEqual(bars(m1.tracks, 'condition Ready'), [['good', 0, 5, 'Ready=True'], ['bad', 5, 9, 'Ready=False']], 'none is before the page began to look');
  assert.deepEqual(bars(m1.tracks, 'taint down:NoExecute'), [['noExecute', 5, 9, 'down:NoExecute']]);
  assert.deepEqual(bars(m1.tracks, 'evictions'), [['blocked', 5, 9, 'eviction blocked']]);
  assert.deepEqual(bars(m1.tracks, 'load'), [['slowed', 5, 9, 'CPU 90 % or more']]);
  hear(10, { clusters: { m1: cluster() } });
  hear(12, { clusters: { m1: null } });
  assert.deepEqual(bars(m1.tracks, 'taint down:NoExecute'), [['noExecute', 5, 10, 'down:NoExecute']]);
  assert.deepEqual(bars(m1.tracks, 'condition Ready').at(-1), ['good', 10, 12, 'Ready=True']);
  assert.equal(r.open.size, 1, 'nothing of it goes on: only the governor does');
  const rows = rowsOf(new Model(r.run), { workloads: [], clusters: [0], group: 'none', toggled: new Set(), pins: ['c0'], pinned: 'Selected', filtered: false });
  assert.deepEqual(rows.slice(0, 2).map((x) => x.label), ['Selected', 'm1']);
});

test('it begins with what still goes on when the page is opened', () => {
  const m = new LiveModel();
  m.apply({ format: 'leeward.dev/live', version: 1, at: after(0), totals: /** @type {any} */ (totals), governor: {}, clusters: { m1: cluster({ ready: 'Unknown', since: after(-100), taints: ['a:NoExecute', 'b:NoSchedule'], taintedAt: [after(-60), null] }), m2: cluster({ since: after(-3000) }) },
    evictions: { 'web m1': { name: 'web', cluster: 'm1', state: 'Evicting', since: after(-20) } } }, t0);
  const began = beginning(m, t0);
  assert.equal(began, t0 - 105_000, 'what is as it must be, and what nothing tells the time of, does not count');
  const r = new LiveRun(began, t0);
  r.take(m, t0);
  const from = (/** @type {import('../../../runtime/report/viewer/model.js').Track[]} */ tracks) => Object.fromEntries(tracks.filter((t) => t.bars.length).map((t) => [r.run.strings[t.name], t.bars[0][1] / 1000]));
  assert.deepEqual(from(r.run.clusters[0].tracks), { 'condition Ready': 5, 'taint a:NoExecute': 45, 'taint b:NoSchedule': 105 });
  assert.deepEqual(from(r.run.workloads[0].on[0].tracks), { eviction: 85 });
  assert.deepEqual(r.run.replicas.at, [105_000]);
  m.clusters.clear();
  m.evictions.clear();
  assert.equal(beginning(m, t0), t0);
});

test('a scheduled eviction reaches until its deadline, which the axis shows as far as it has the width', () => {
  const { r, hear, bars } = look();
  const eviction = { namespace: 'shop', name: 'web', cluster: 'm1', state: 'Scheduled', deadline: after(90) };
  hear(0, { format: 'leeward.dev/live', version: 1, totals, governor: {}, clusters: { m1: cluster() }, evictions: { 'shop/web m1': eviction } });
  const [w] = r.run.workloads;
  assert.deepEqual(bars(w.on[0].tracks, 'eviction'), [['countdown', 0, 90, 'eviction scheduled']]);
  assert.equal(w.outcome, 'eviction scheduled');
  assert.ok(r.run.end >= 60_000 && r.run.end < 70_000, 'as much as the page has looked, or a minute');
  hear(80, { evictions: { 'shop/web m1': { ...eviction, state: 'Blocked', reason: 'NoClusterFit' } } });
  hear(95, { evictions: { 'shop/web m1': null } });
  assert.deepEqual(bars(w.on[0].tracks, 'eviction'), [['countdown', 0, 80, 'eviction scheduled'], ['blocked', 80, 95, 'blocked: NoClusterFit']]);
  assert.equal(w.outcome, 'evicted');
});

test('a workload that is followed shows copies, tasks and decisions', () => {
  const { r, hear, bars } = look();
  hear(0, { format: 'leeward.dev/live', version: 1, totals, governor: {}, clusters: { m1: cluster(), m2: cluster() }, evictions: {} });
  /** @param {any} spec @param {any} status @returns {any} */
  const object = (spec, status) => ({ metadata: { namespace: 'shop', name: 'web', labels: { app: 'web' } }, spec: { replicas: 2, ...spec }, status });
  r.object('shop/web', object({ clusters: [{ name: 'm1', replicas: 2 }] }, { aggregatedStatus: [{ clusterName: 'm1', health: 'Healthy', readyReplicas: 2 }] }), t0 + 1000);
  r.object('shop/web', object({ clusters: [{ name: 'm2', replicas: 2 }], gracefulEvictionTasks: [{ fromCluster: 'm1', creationTimestamp: after(8) }] },
    { aggregatedStatus: [{ clusterName: 'm1', health: 'Healthy', readyReplicas: 2 }, { clusterName: 'm2', readyReplicas: 1 }], evictions: [{ cluster: 'm1', state: 'Evicting', deadline: after(8) }] }), t0 + 10_000);
  const [w] = r.run.workloads;
  const on = (/** @type {string} */ name) => w.on.find((o) => r.run.clusters[o.cluster].name === name)?.tracks ?? [];
  assert.equal(w.outcome, 'evicting');
  assert.deepEqual(bars(w.tracks, 'decisions'), [['mark', 10, 10, 'placement m2:2']]);
  assert.deepEqual(bars(on('m1'), 'placement'), [['placed', 1, 10, 'placed ×2']]);
  assert.deepEqual(bars(on('m1'), 'eviction'), [['evicting', 8, 10, 'evicting']], 'since the task was created');
  assert.deepEqual(bars(on('m1'), 'copy'), [['healthy', 1, 10, '2 of 2 available'], ['healthy', 10, 10, 'old copy, 2 available']]);
  assert.deepEqual(bars(on('m2'), 'copy'), [['starting', 10, 10, 'starting, 1 of 2 available']]);
  assert.ok(new Model(r.run).isLabelled(w, 'app=web'));
  r.object('shop/web', object({ clusters: [] }, { conditions: [{ type: 'Scheduled', status: 'False', reason: 'NoClusterFit' }] }), t0 + 20_000);
  assert.equal(w.outcome, 'unschedulable');
  assert.deepEqual(bars(w.tracks, 'scheduling'), [['unschedulable', 20, 20, 'unschedulable: NoClusterFit']]);
  hear(25, { evictions: {} });
  assert.equal(w.outcome, 'unschedulable', 'what is followed knows more than the picture');
  r.object('shop/web', null, t0 + 30_000);
  assert.equal(w.outcome, 'deleted');
  assert.equal(on('m2').some((t) => r.open.has(t)), false);
});

test('whatever it is told, it keeps its memory small', () => {
  const { r, hear } = look();
  hear(0, { format: 'leeward.dev/live', version: 1, totals, governor: {}, clusters: { m1: cluster() }, evictions: {} });
  let renumbered = false;
  for (let i = 1; i <= 40; i++) {
    const evictions = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${i}-${n}`, { name: `w-${i}-${n}`, cluster: `m${i * 300 + n}`, state: 'Blocked', reason: `r${i}-${n}` }]));
    renumbered = hear(i, { format: 'leeward.dev/live', version: 1, totals: { ...totals, replicas: { ...totals.replicas, available: i } }, governor: {}, clusters: { m1: cluster({ ready: i % 2 ? 'False' : 'True' }) }, evictions }) || renumbered;
  }
  assert.ok(renumbered);
  assert.ok(r.run.workloads.length <= mostLiveWorkloads);
  assert.ok(r.run.clusters.length <= 1000);
  assert.deepEqual([...r.workloads].map(([name, i]) => r.run.workloads[i].name === name), r.run.workloads.map(() => true));
  for (let i = 41; i < 8000; i++) {
    r.tick(t0 + 1000 * i);
    r.note({ ...totals.replicas, available: i });
    r.say(r.run.clusters[0].tracks, [{ track: 'condition Ready', kind: i % 2 ? 'bad' : 'good', label: `${i}` }]);
    r.text(`text ${i}`);
    r.text(`other ${i}`);
    r.text(`third ${i}`);
  }
  assert.ok(r.run.replicas.at.length <= 3600 && r.run.replicas.at.length === r.run.replicas.available.length);
  assert.equal(r.run.replicas.available.at(-1), 7999);
  assert.ok(r.run.clusters[0].tracks[0].bars.length <= 200);
  assert.ok(r.run.strings.length <= 20_000);
});

test('a link has what is searched, selected and pinned, and nothing else', () => {
  const view = { q: 'app=web', selected: 'b:shop/web', pins: ['c:m1', 'b:db'] };
  assert.deepEqual(fromLive(toLive(view)), view);
  assert.equal(toLive({ q: '', selected: '', pins: [] }), '');
  assert.deepEqual(fromLive('#sel=x:1&pin=c:&pin=b:a/b/c&pin=c:m1&pin=c:m1&pin=b:<a b>'), { q: '', selected: '', pins: ['c:m1'] });
  const long = fromLive(`#q=${'a'.repeat(1000)}&${Array.from({ length: 100 }, (_, i) => `pin=c:m${i}`).join('&')}`);
  assert.deepEqual([long.q.length, long.pins.length], [200, 12]);
});
