import test from 'node:test';
import assert from 'node:assert/strict';
import { firstLink, fromFragment, toFragment } from '../../../runtime/report/viewer/link.js';

test('a view as it is at first needs no fragment', () => assert.equal(toFragment(firstLink()), ''));

test('what a fragment says comes back from it', () => {
  const v = { ...firstLink(), run: 3, from: 4000, to: 9000, at: 5000, axis: /** @type {const} */ ('clock'), group: /** @type {const} */ ('namespace'), selected: 'w0/1/0/2', pins: ['w0', 'c1'], toggled: ['G:o3', 's:clusters'] };
  v.filter = { query: 'web & <img>', namespace: 'shop', cluster: 'm1', region: 'eu', state: 'evicting', outcome: 'eviction scheduled' };
  assert.deepEqual(fromFragment(toFragment(v)), v);
});

test('a fragment that says nonsense is a view as it is at first', () => {
  for (const bad of ['#run=x&from=-1&to=1e9&at=NaN&axis=up&group=all', '#sel=<script>&pin=javascript:1()&row=%00', '#=&&&', `#run=${'9'.repeat(400)}`]) assert.deepEqual(fromFragment(bad), firstLink(), bad);
});

test('a fragment is bounded', () => {
  const many = fromFragment(`#${Array.from({ length: 5000 }, (_, i) => `pin=w${i}&row=w${i}`).join('&')}&query=${'q'.repeat(9999)}`);
  assert.equal(many.pins.length, 100);
  assert.equal(many.toggled.length, 100);
  assert.equal(many.filter.query.length, 200);
});
