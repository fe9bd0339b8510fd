// The live picture, and what the buttons write: node's own test runner.
import test from 'node:test';
import assert from 'node:assert/strict';
import { eventReader, LiveModel, moves, placementText, until } from '../../../runtime/report/viewer/livemodel.js';
import * as edits from '../../../runtime/report/viewer/liveedits.js';

const t0 = Date.parse('2026-05-01T12:00:00Z');
const totals = { clusters: { all: 2, ready: 1, tainted: 1, draining: 0 }, workloads: { settled: 1, unhealthy: 0, scheduled: 1, evicting: 0, blocked: 0, unschedulable: 0 }, replicas: { placed: 4, available: 4, evicting: 0, unschedulable: 0 }, evictions: { scheduled: 1, blocked: 0, evicting: 0 }, blockedBy: {} };
const none = { scheduled: 0, blocked: 0, evicting: 0 };
/** @param {string} ready @param {any} [more] */
const cluster = (ready, more = {}) => ({ ready, workloads: 1, replicas: 2, available: 2, evictions: none, ...more });
/** @returns {any} */
const whole = () => ({ format: 'leeward.dev/live', version: 1, at: '2026-05-01T12:00:00Z', totals, governor: { state: 'Normal' }, clusters: { m1: cluster('True'), m2: cluster('False', { region: 'eu' }) }, evictions: { 'shop/web m2': { namespace: 'shop', name: 'web', cluster: 'm2', state: 'Scheduled', deadline: '2026-05-01T12:01:00Z' } } });

test('messages are put together: rows change, go and come, and a whole picture replaces all', () => {
  const m = new LiveModel();
  m.apply({ at: '2026-05-01T12:00:00Z', clusters: { m9: cluster('True') } }, t0);
  assert.equal(m.clusters.size, 0, 'what changed is of no use before the picture');
  m.apply(whole(), t0 - 5000);
  assert.equal(m.clock(t0), t0 + 5000, 'deadlines count by the clock of the daemon');
  assert.deepEqual(m.rows([]).map(([n]) => n), ['m2', 'm1'], 'first what is not Ready');
  assert.deepEqual(m.rows(['eu']).map(([n]) => n), ['m2']);
  m.apply({ at: '2026-05-01T12:00:01Z', clusters: { m2: null, m3: cluster('Unknown') }, evictions: { 'shop/a m1': { name: 'a', cluster: 'm1', state: 'Blocked' } } }, t0);
  assert.deepEqual([...m.clusters.keys()], ['m1', 'm3']);
  assert.equal(m.governor.state, 'Normal', 'a section that is missing is as it was');
  assert.deepEqual(m.due([]).map(([, e]) => e.name), ['a', 'web'], 'blocked ones first');
  assert.deepEqual(m.due(['shop/web']).map(([, e]) => e.name), ['web']);
  m.apply({ ...whole(), clusters: {}, evictions: {} }, t0);
  assert.equal(m.clusters.size + m.evictions.size, 0);
  assert.throws(() => m.apply({ ...whole(), version: 2 }, t0), /version 2 of the picture is not known/);
});

test('deadlines count down', () => {
  assert.equal(until('2026-05-01T12:01:05Z', t0), 'in 1m5s');
  assert.equal(until('2026-05-01T12:00:00Z', t0), 'due');
  assert.equal(until('2026-05-01T11:59:50Z', t0), '10s ago');
  assert.equal(until(undefined, t0), '');
});

test('events are read however they are cut', () => {
  const text = 'event: picture\ndata: {"at":"ü"}\n\n: nothing\n\nevent: end\ndata: {"reason":"slow"}\n\n';
  for (let cut = 1; cut < text.length; cut++) {
    /** @type {string[]} */
    const heard = [];
    const read = eventReader((event, data) => heard.push(`${event} ${data}`));
    for (let i = 0; i < text.length; i += cut) read(text.slice(i, i + cut));
    assert.deepEqual(heard, ['picture {"at":"ü"}', 'end {"reason":"slow"}']);
  }
});

test('a preview is counted by cluster', () => {
  const status = { evicted: 2, unschedulable: 1, evictions: [{ name: 'a', fromCluster: 'm1', toClusters: [{ name: 'm2', replicas: 3 }, { name: 'm3' }], at: '' }, { name: 'b', fromCluster: 'm1', at: '' }] };
  assert.deepEqual([...moves(status)], [['m1', { from: 2, to: 0 }], ['m2', { from: 0, to: 1 }], ['m3', { from: 0, to: 1 }]]);
  assert.equal(placementText(status.evictions[0].toClusters), 'm2:3 m3');
});

test('taints are read and written as kubectl does', () => {
  assert.deepEqual(edits.readTaint(' a.io/k=v:NoExecute '), { key: 'a.io/k', value: 'v', effect: 'NoExecute' });
  assert.deepEqual(edits.readTaint('k:NoSchedule'), { key: 'k', effect: 'NoSchedule' });
  for (const wrong of ['', 'k', 'k=v', 'k:Nothing', 'a b:NoExecute', 'k=v=w:NoExecute', ':NoExecute']) assert.throws(() => edits.readTaint(wrong), /is not a taint/);
});

test('manifests are asked about as they are, each as an object', () => {
  const text = edits.appliedPreview('# a comment\n---\nkind: A\nmetadata:\n  name: a\n\n--- # the next\n{"kind": "B"}\n---\n');
  assert.equal(text, 'apiVersion: leeward.dev/v1alpha1\nkind: FailoverPreview\nmetadata: {name: live}\nspec:\n  objects:\n  -\n    kind: A\n    metadata:\n      name: a\n  -\n    {"kind": "B"}\n');
  for (const none of ['', '---\n', '# only this\n---\n']) assert.throws(() => edits.appliedPreview(none), /give a manifest/);
});

test('the buttons write what the commands write', () => {
  const there = { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };
  const stored = { metadata: { name: 'm1', resourceVersion: '7', annotations: { a: 'b' } }, spec: { taints: [there], region: 'eu' } };
  const cordoned = { key: 'cluster.karmada.io/unschedulable', effect: 'NoSchedule' };
  assert.deepEqual(edits.addTaint('m1', { key: 'x', effect: 'NoExecute' }).patch(stored), { spec: { taints: [there, { key: 'x', effect: 'NoExecute' }] } }, 'a taint of others stays as it is');
  assert.deepEqual(edits.removeTaint('m1', 'k=v:NoExecute').patch(stored), { spec: { taints: [] } });
  assert.deepEqual(edits.cordon('m1').patch(stored).spec.taints, [there, cordoned]);
  assert.deepEqual(edits.uncordon('m1').patch({ ...stored, spec: { taints: [there, cordoned] } }), { metadata: { annotations: { 'leeward.dev/drain': null } }, spec: { taints: [there] } });
  assert.deepEqual(edits.drainCluster('m1').patch(stored), { metadata: { annotations: { 'leeward.dev/drain': '' } } });
  assert.deepEqual(edits.drainCluster('m1').question?.(stored), { objects: [{ metadata: { name: 'm1', annotations: { a: 'b', 'leeward.dev/drain': '' } }, spec: stored.spec }] });
  assert.deepEqual(edits.holdEvictions('m1', '/p', ' why ', 'T').patch(stored), { metadata: { annotations: { 'leeward.dev/hold-evictions': 'why', 'leeward.dev/hold-until': 'T' } } });
  assert.throws(() => edits.holdEvictions('m1', '/p', ' ').patch(stored), /give a reason/);
  assert.deepEqual(edits.endHold('b', '/p', true).patch(stored), { metadata: { annotations: { 'leeward.dev/hold-evictions': null, 'leeward.dev/hold-until': null, 'leeward.dev/release-evictions': null } } });
  assert.deepEqual(edits.releaseNow('b', '/p', 'why').patch(stored), { metadata: { annotations: { 'leeward.dev/release-evictions': 'why' } } });
  assert.deepEqual(edits.pauseAll('why').patch(stored), { spec: { pause: { reason: 'why', until: null } } });
  assert.deepEqual(edits.resumeAll().patch(stored), { spec: { pause: null } });
});

test('names are parts of paths, and nothing else', () => {
  assert.equal(edits.clusterPath('../secrets?x#y'), '/apis/cluster.karmada.io/v1alpha1/clusters/..%2Fsecrets%3Fx%23y');
  assert.equal(edits.bindingPath('shop', 'a/b'), '/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/a%2Fb');
  assert.equal(edits.bindingPath('', 'a'), '/apis/work.karmada.io/v1alpha2/clusterresourcebindings/a');
});

test('a hold ends after a time', () => {
  assert.equal(edits.endsAfter('30m', t0 + 400), '2026-05-01T12:30:00Z');
  assert.equal(edits.endsAfter('', t0), undefined);
  for (const wrong of ['30', 'm', '1d', '-1m', '1h30m', '9999999s']) assert.throws(() => edits.endsAfter(wrong, t0), /is not a duration/);
});

test('warnings of the API are read', () => {
  assert.deepEqual(edits.warningsOf('299 - "preview: 1 binding would be evicted, immediately", 299 - "a \\"b\\" c"'), ['preview: 1 binding would be evicted, immediately', 'a "b" c']);
  assert.deepEqual(edits.warningsOf(null), []);
});
