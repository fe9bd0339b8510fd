import test from 'node:test';
import assert from 'node:assert/strict';
import { addressOf, barOf, barsOf, densities, density, fewWorkloads, hit, largeGroup, layersOf, rowsOf, visibleRows } from '../../../runtime/report/viewer/layout.js';
import { clockAxis } from '../../../runtime/report/viewer/scale.js';
import { Model, barAt } from '../../../runtime/report/viewer/model.js';
import { model } from './run.js';

const keys = (/** @type {Partial<Parameters<typeof rowsOf>[1]>} */ v) => rowsOf(model(), { workloads: [0, 1, 2], clusters: [0, 1], group: 'outcome', toggled: new Set(), pins: [], filtered: false, ...v }).map((r) => r.key);

test('a small run shows all: expectations, clusters, workloads and each of their clusters', () => {
  assert.deepEqual(keys({}), ['e', 's:clusters', 'c0', 'G:calm', 'c1', 's:workloads', 'w0', 'w0/0', 'w0/1', 'w1', 'w1/0', 'w2', 'w2/0']);
});

test('a row that was toggled is not as it is at first', () => {
  assert.deepEqual(keys({ toggled: new Set(['s:clusters', 'w0', 'w1']) }), ['e', 's:clusters', 's:workloads', 'w0', 'w1', 'w2', 'w2/0']);
});

test('a filter closes the clusters, so that what it finds can be seen', () => {
  assert.deepEqual(keys({ workloads: [1], clusters: [1], filtered: true }), ['e', 's:clusters', 's:workloads', 'w1', 'w1/0']);
});

test('pins come first, and those of another run are ignored', () => {
  assert.deepEqual(keys({ pins: ['w1', 'c0', 'w99', 'x'] }).slice(0, 4), ['s:pinned', 'p:w1', 'p:w1/0', 'p:c0']);
});

/** A run of n workloads, of which the first was evicted. @param {number} n */
function large(n) {
  const m = model();
  const [web, db] = m.run.workloads;
  return new Model({ ...m.run, workloads: Array.from({ length: n }, (_, i) => ({ ...(i ? db : web), name: `team-${i % 7}/app-${i}` })) });
}

test('many workloads are groups, the worst outcome first, and large groups are closed', () => {
  const m = large(largeGroup + 2);
  const all = m.run.workloads.map((_, i) => i);
  const rows = rowsOf(m, { workloads: all, clusters: [], group: 'outcome', toggled: new Set(), pins: [], filtered: false });
  assert.deepEqual(rows.map((r) => [r.key, r.note]), [['e', 'all held'], ['s:workloads', '202'], ['G:o7', '1'], ['w0', ''], ['G:o12', '201']]);
  const by = rowsOf(m, { workloads: all, clusters: [], group: 'namespace', toggled: new Set(), pins: [], filtered: false });
  assert.deepEqual(by.filter((r) => r.type === 'group').map((r) => r.label), ['team-0', 'team-1', 'team-2', 'team-3', 'team-4', 'team-5', 'team-6']);
  assert.equal(rowsOf(m, { workloads: all.slice(0, fewWorkloads), clusters: [], group: 'outcome', toggled: new Set(), pins: [], filtered: false }).some((r) => r.type === 'group'), false);
});

test('every bar of a row has an address that leads back to it', () => {
  const m = model();
  let seen = 0;
  for (const key of ['c0', 'c0/-/0', 'w0', 'w0/0', 'w0/1', 'p:w0/0']) {
    for (const layer of layersOf(m, key)) {
      for (const bar of layer.bars) {
        seen++;
        assert.equal(barOf(m, addressOf(layer, bar))?.bar, bar, `${key} ${addressOf(layer, bar)}`);
      }
    }
  }
  assert.ok(seen > 12);
  for (const none of ['', 'w0', 'w9/0/0/0', 'c0/-/7/0', 'w0/0/0/99', 'f1', 'x/-/0/0']) assert.equal(barOf(m, none), null, none);
});

test('of several bars below the pointer the one in front is hit, and marks a few pixels away', () => {
  const m = model();
  assert.equal(barOf(m, hit(m, 'w0/0', 6000, 0.3, 10))?.bar[1], 5000);
  assert.equal(m.kind(barOf(m, hit(m, 'w0', 5040, 0.5, 100))?.bar ?? []), 'mark');
  assert.equal(hit(m, 'w0/0', 9000, 0.3, 10), '', 'nothing is there any more');
  assert.equal(m.kind(barOf(m, hit(m, 'c0', 5000, 0.5, 10))?.bar ?? []), 'bad');
});

test('bars of a row are in order of time', () => {
  const times = barsOf(model(), 'w0').map((b) => b.bar[1]);
  assert.deepEqual(times, [...times].sort((a, b) => a - b));
});

test('only rows within the window are drawn', () => {
  assert.deepEqual(visibleRows(0, 100, 24, 1000), { first: 0, last: 5 });
  assert.deepEqual(visibleRows(23_990, 100, 24, 1000), { first: 999, last: 1000 });
  assert.deepEqual(visibleRows(0, 100, 24, 0), { first: 0, last: 0 });
});

test('a group counts its workloads by state, for each part of the view', () => {
  const m = model();
  const counts = density(m, [0, 1, 2], clockAxis(10_000), { from: 0, to: 1 }, 10);
  const at = (/** @type {string} */ name) => [...counts[densities.findIndex((d) => d.name === name)]];
  assert.deepEqual(at('evicting'), [0, 0, 0, 0, 0, 1, 1, 0, 0, 0]);
  assert.deepEqual(at('starting'), [0, 0, 0, 0, 0, 1, 1, 0, 0, 0]);
  assert.deepEqual(at('unhealthy'), Array(10).fill(0));
  const part = density(m, [0], clockAxis(10_000), { from: 0.6, to: 0.8 }, 4);
  assert.deepEqual([...part[densities.findIndex((d) => d.name === 'evicting')]], [1, 1, 0, 0]);
});

test('the bar at an instant is the last that has begun', () => {
  const bars = [[0, 10, 20, 0], [0, 20, -1, 0]];
  assert.equal(barAt(bars, 9), undefined);
  assert.equal(barAt(bars, 19), bars[0]);
  assert.equal(barAt(bars, 20), bars[1]);
});

/** A run of two nodes, of which n1 is lost, and n pods, of which the first is terminating; with the clusters and workloads of the small run where so asked. @param {number} n @param {boolean} [both] */
function ofNodes(n, both = false) {
  const { run } = model();
  const at = (/** @type {string} */ word) => run.strings.indexOf(word);
  const k = (/** @type {string} */ kind) => run.kinds.indexOf(kind);
  const none = both ? {} : { clusters: [], workloads: [], facts: { at: [], kind: [], level: [], workload: [], cluster: [], text: [], why: [], reason: [] } };
  const strings = [...run.strings, 'deployment/shop/web', 'ready', 'taint down:NoExecute'];
  const tracks = [{ name: at('placement'), bars: [[k('placed'), 0, 5000, 3]] }, { name: strings.indexOf('ready'), bars: [[k('healthy'), 0, 5000, 3]] }];
  return new Model({ ...run, strings, ...none, nodes: [{ name: 'n1', zone: 'a', tracks: [{ name: at('condition Ready'), bars: [[k('bad'), 0, 5, 3]] }, { name: strings.indexOf('taint down:NoExecute'), bars: [[k('noExecute'), 0, 5, 3]] }] }, { name: 'n2', zone: 'b', tracks: [] }],
    pods: Array.from({ length: n }, (_, i) => ({ name: `shop/web-${i}`, owner: i % 2 ? -1 : strings.indexOf('deployment/shop/web'), outcome: i ? 'unchanged' : 'terminating', nodes: i % 3 ? [0, 1] : [0], tracks })) });
}
const rowsOfNodes = (/** @type {Model} */ m, /** @type {string} */ group, toggled = ['x']) => rowsOf(m, { workloads: m.run.workloads.map((_, i) => i), clusters: m.run.clusters.map((_, i) => i), group, toggled: new Set(toggled), pins: ['w3'], filtered: false });

test('nodes and pods are sections of their own, behind clusters and workloads', () => {
  const m = ofNodes(2, true);
  assert.deepEqual([m.places, m.loads], ['clusters and nodes', 'workloads and pods']);
  assert.deepEqual(rowsOfNodes(m, 'outcome').map((r) => r.key), ['s:pinned', 'p:w3', 'e', 's:clusters', 'c0', 'G:calm', 'c1', 's:nodes', 'c2', 'G:calm-nodes', 'c3', 's:workloads', 'w0', 'w0/0', 'w0/1', 'w1', 'w1/0', 'w2', 'w2/0', 's:pods', 'w3', 'w4']);
  assert.deepEqual(ofNodes(1).loads, 'pods');
});

test('many nodes to which something happened are groups by zone, closed at first', () => {
  const m = ofNodes(1);
  const lost = Array.from({ length: largeGroup + 1 }, () => 0);
  assert.deepEqual(rowsOf(m, { workloads: [], clusters: [...lost, 1], group: 'none', toggled: new Set(), pins: [], filtered: false }).map((r) => [r.key, r.label, r.note]).slice(1),
    [['s:nodes', 'Nodes', '202'], ['G:calm-nodes-0', 'a', '201'], ['G:calm-nodes', 'unchanged', '1'], ['c1', 'n2', 'b']]);
});

test('pods are grouped by outcome, owner, and the node and zone that they were on last', () => {
  const m = ofNodes(20);
  const groups = (/** @type {string} */ by) => rowsOfNodes(m, by).filter((r) => r.type === 'group' && r.key[0] === 'P').map((r) => [r.label, r.note]);
  assert.deepEqual(groups('outcome'), [['terminating', '1'], ['unchanged', '19']]);
  assert.deepEqual(groups('owner'), [['(no owner)', '10'], ['deployment/shop/web', '10']]);
  assert.deepEqual(groups('node'), [['n1', '7'], ['n2', '13']]);
  assert.deepEqual(groups('zone'), [['a', '7'], ['b', '13']]);
});

test('bars of nodes and pods have addresses that lead back, and what is thin lies below', () => {
  const m = ofNodes(1, true);
  for (const key of ['c2', 'w3']) {
    const layers = layersOf(m, key);
    for (const l of layers) for (const bar of l.bars) assert.equal(barOf(m, addressOf(l, bar))?.bar, bar, key);
    assert.equal(layers.length, 2);
    assert.ok(layers[0].top + layers[0].height <= 1 && layers.some((l) => l.top > 0.6), key);
  }
  assert.deepEqual(rowsOfNodes(m, 'none', ['w3']).filter((r) => r.key.startsWith('w3/')).map((r) => r.label), ['placement', 'ready']);
});
