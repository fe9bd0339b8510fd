import test from 'node:test';
import assert from 'node:assert/strict';
import { filterClusters, filterWorkloads, isFiltered, noFilter } from '../../../runtime/report/viewer/filter.js';
import { model } from './run.js';

const names = (/** @type {Partial<typeof noFilter>} */ f, at = 0) => {
  const m = model();
  return filterWorkloads(m, { ...noFilter, ...f }, at).map((i) => m.run.workloads[i].name);
};

test('each part of a filter leaves out what does not pass it', () => {
  assert.deepEqual(names({}), ['shop/web', 'shop/db', 'blog/web']);
  assert.deepEqual(names({ namespace: 'shop' }), ['shop/web', 'shop/db']);
  assert.deepEqual(names({ cluster: 'm2' }), ['shop/web', 'shop/db']);
  assert.deepEqual(names({ region: 'eu' }), ['shop/web', 'blog/web']);
  assert.deepEqual(names({ region: 'eu', cluster: 'm2' }), []);
  assert.deepEqual(names({ outcome: 'evicted' }), ['shop/web']);
});

test('a state is that at the cursor', () => {
  assert.deepEqual(names({ state: 'evicting' }, 4999), []);
  assert.deepEqual(names({ state: 'evicting' }, 5000), ['shop/web']);
  assert.deepEqual(names({ state: 'evicting' }, 7000), []);
});

test('all words of a search must be in the name, or in that of a cluster', () => {
  assert.deepEqual(names({ query: 'WEB' }), ['shop/web', 'blog/web']);
  assert.deepEqual(names({ query: 'web shop' }), ['shop/web']);
  assert.deepEqual(names({ query: 'shop m1' }), ['shop/web']);
  assert.deepEqual(names({ query: '.*' }), [], 'a search is no pattern');
});

test('a word with = is a label, of a workload or of a cluster of it', () => {
  assert.deepEqual(names({ query: 'app=web' }), ['blog/web']);
  assert.deepEqual(names({ query: 'tier=gold' }), ['shop/web', 'shop/db']);
  assert.deepEqual(names({ query: 'tier=gold web' }), ['shop/web']);
  assert.deepEqual(names({ query: 'app=we' }), []);
  const m = model();
  assert.deepEqual(filterClusters(m, { ...noFilter, query: 'tier=gold' }, []), [1]);
});

test('clusters follow the workloads that are found', () => {
  const m = model();
  assert.deepEqual(filterClusters(m, { ...noFilter }, [0, 1, 2]), [0, 1]);
  assert.deepEqual(filterClusters(m, { ...noFilter, namespace: 'blog' }, [2]), [0]);
  assert.deepEqual(filterClusters(m, { ...noFilter, query: 'm2' }, []), [1]);
  assert.equal(isFiltered(noFilter), false);
  assert.equal(isFiltered({ ...noFilter, state: 'placed' }), true);
});
