// Figures of reports: node's own test runner.
import test from 'node:test';
import assert from 'node:assert/strict';
import * as f from '../../../runtime/report/viewer/figures.js';

/** @param {Partial<f.StormPoint>} p */
const point = (p) => ({ evicted: 0, placed: 0, healthy: 0, released: 0, backlog: 0, ...p });

test('numbers are short', () => {
  assert.deepEqual([0, 0.25, 7, 999, 1000, 1234, 99_999, 999_999, 1_000_000, 2.5e9].map(f.shortText), ['0', '0.25', '7', '999', '1k', '1.23k', '100k', '1000k', '1M', '2.5G']);
  assert.deepEqual([0, 5e-9, 43.4e-6, 0.09, 0.9996, 1, 59.94, 90, 5400].map(f.secondsText), ['0s', '5ns', '43.4µs', '90ms', '1s', '1s', '59.9s', '1m30s', '1h30m']);
  assert.deepEqual([0, 900, 1536, 5e9].map(f.bytesText), ['0 B', '900 B', '1.5 KiB', '4.66 GiB']);
  assert.equal(f.shareText(0.9999), '99 %');
});

test('values lie where they belong, and ticks are round', () => {
  const linear = f.linearScale(47);
  assert.deepEqual([linear.top, linear.at(30), linear.at(100), linear.at(-1)], [60, 0.5, 1, 0]);
  assert.equal(f.linearScale(0).top, 1);
  assert.deepEqual(f.timeScale(40).ticks, [0, 10, 20, 30, 40]);
  const log = f.logScale(0.002, 0.5);
  assert.deepEqual(log.ticks, [0.001, 0.01, 0.1, 1]);
  assert.ok(Math.abs(log.at(0.1) - 2 / 3) < 1e-9);
  assert.equal(log.at(0), 0, 'zero lies at the beginning');
  assert.equal(f.logScale(1, 1).ticks.length, 4, 'one decade at least');
});

test('a rate does not depend on how many points share a column, and a backlog is that at the end', () => {
  const points = Array.from({ length: 3 * f.mostColumns - 1 }, (_, i) => point({ released: 5, backlog: i }));
  const series = { intervalSeconds: 0.1, points };
  const columns = f.rateColumns(series, 'released');
  assert.equal(columns.length, f.mostColumns);
  for (const c of columns) assert.ok(Math.abs(c.value - 50) < 1e-6);
  assert.equal(f.rateColumns(series, 'backlog')[0].value, 2);
  assert.deepEqual(f.rateColumns({ intervalSeconds: 0.1, points: null }, 'evicted'), []);
});

test('a column is found by its place', () => {
  const columns = [{ from: 0, to: 1, value: 5 }, { from: 2, to: 3, value: 6 }];
  assert.deepEqual([0, 1, 2.5, 3, 9].map((v) => f.columnAt(columns, v)?.value), [5, undefined, 6, 6, 6]);
});

test('the fullest cluster comes first, and many share a column', () => {
  const load = Array.from({ length: 500 }, (_, i) => ({ cluster: `m${i}`, before: 1, after: i, failed: i === 499 }));
  const columns = f.loadColumns(load, 100);
  assert.equal(columns.length, 100);
  assert.deepEqual([columns[0].clusters[0].cluster, columns[0].clusters.length, columns[0].after, columns[0].before], ['m498', 5, 496, 1]);
  assert.deepEqual(f.loadColumns([], 10), []);
});

test('what took no time does not stretch the scale of waiting times', () => {
  const l = { stage: 'evicted', count: 4, minSeconds: 0, meanSeconds: 0, p50Seconds: 0, p90Seconds: 0, p99Seconds: 0, p999Seconds: 0, maxSeconds: 0, share: 1 };
  const scale = f.latencyScale([{ ...l, buckets: [{ fromSeconds: 0, toSeconds: 1e-6, count: 3 }] }, { ...l, buckets: [{ fromSeconds: 20, toSeconds: 25, count: 1 }] }]);
  assert.equal(scale.ticks[0], 10);
  assert.deepEqual(f.latencyColumns({ ...l, buckets: [{ fromSeconds: 1, toSeconds: 2, count: 1 }] }), [{ from: 1, to: 2, value: 0.25 }]);
  assert.ok(f.latencyScale([]).ticks.length > 1);
});

test('a heat map shows the worst first, and the worst of a cell', () => {
  const g = (/** @type {string} */ group, /** @type {number} */ unavailable, /** @type {number} */ lowestAvailability) => ({ group, workloads: 1, unavailable, lowestAvailability });
  assert.deepEqual([g('', 1, 1), g('', 0, 1), g('', 0, 0.9), g('', 0, 0.5), g('', 0, 0.49)].map(f.heatOf), ['lost', 'kept', 'slight', 'dips', 'sinks']);
  const rows = /** @type {any} */ ([{ groups: [g('b', 0, 1), g('c', 1, 0)] }, { groups: [g('a', 0, 1), g('c', 1, 0)] }, {}]);
  assert.deepEqual(f.worstGroups(rows), ['c', 'a', 'b']);
  const again = (/** @type {number | null} */ s) => f.availableAgain(/** @type {any} */ ({ availableAfterSeconds: s }));
  assert.deepEqual([null, 0, 90].map(again), ['never', 'no interruption', 'after 1m30s']);
});
