// A small run, as docs/viewer-data.md has it.
import { Model } from '../../../runtime/report/viewer/model.js';

export const kinds = ['placed', 'good', 'healthy', 'neutral', 'unknown', 'starting', 'noSchedule', 'noExecute', 'slowed', 'countdown', 'blocked', 'evicting', 'bad', 'unhealthy', 'unschedulable', 'mark', 'warning'];
const strings = ['placement', 'eviction', 'copy', 'placed ×2', 'evicting', 'condition Ready', 'events', '', 'taint', 'down:NoExecute', 'evicting from m1', 'Ready=False', 'app=Web', 'tier=gold'];
const k = (/** @type {string} */ kind) => kinds.indexOf(kind);

/** Two clusters, three workloads; shop/web is evicted from m1 at 5 s, for two seconds. */
export function model() {
  return new Model(/** @type {any} */ ({
    name: 'small', seed: 1, profile: 'leeward', passed: true, end: 10_000, expectations: [{ text: 'all is well', passed: true, at: 9000 }], strings, kinds,
    clusters: [{ name: 'm1', region: 'eu', tracks: [{ name: 5, bars: [[k('bad'), 4000, 8000, 11, 0], [k('good'), 8000, -1, 7]] }] }, { name: 'm2', region: 'us', labels: [13], tracks: [] }],
    workloads: [
      { name: 'shop/web', outcome: 'evicted', tracks: [{ name: 6, bars: [[k('mark'), 5000, 5000, 7, 1]] }], on: [
        { cluster: 0, tracks: [{ name: 0, bars: [[k('placed'), 0, 5000, 3]] }, { name: 1, bars: [[k('evicting'), 5000, 7000, 4, 1]] }] },
        { cluster: 1, tracks: [{ name: 0, bars: [[k('placed'), 5000, -1, 3]] }, { name: 2, bars: [[k('starting'), 5000, 7000, 7], [k('healthy'), 7000, -1, 7]] }] }] },
      { name: 'shop/db', outcome: 'unchanged', tracks: [], on: [{ cluster: 1, tracks: [{ name: 0, bars: [[k('placed'), 0, -1, 3]] }] }] },
      { name: 'blog/web', outcome: 'unchanged', labels: [12], tracks: [], on: [{ cluster: 0, tracks: [{ name: 0, bars: [[k('placed'), 0, -1, 3]] }] }] },
    ],
    governor: [], inputs: [], reasons: [[[8, 9]]],
    facts: { at: [4000, 5000, 7000], kind: [7, 7, 7], level: [1, 1, 0], workload: [-1, 0, 0], cluster: [0, 0, 1], text: [11, 10, 7], why: [7, 7, 7], reason: [-1, 0, -1] },
    replicas: { at: [0, 5000], placed: [6, 6], available: [6, 4], evicting: [0, 2], unschedulable: [0, 0] }, regions: [], omitted: { facts: 0, workloads: 0 },
  }));
}
