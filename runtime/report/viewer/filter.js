// Filters: which workloads and clusters a view shows.
import { namespaceOf } from './model.js';

/** @typedef {import('./model.js').Model} FilterModel */
/**
 * @typedef {object} Filter
 * @property {string} query words that a name must hold, all of them; a word with = in it is a label of the workload or of a cluster of it
 * @property {string} namespace
 * @property {string} cluster
 * @property {string} region
 * @property {string} state a kind of bar that there is at the cursor
 * @property {string} outcome
 */

/** @type {Readonly<Filter>} */
export const noFilter = Object.freeze({ query: '', namespace: '', cluster: '', region: '', state: '', outcome: '' });

/** @param {Filter} f */
export function isFiltered(f) { return Object.values(f).some((v) => v !== ''); }

/** @param {string} query */
function wordsOf(query) { return query.toLowerCase().split(/\s+/).filter(Boolean); }

/**
 * The workloads that pass a filter at an instant.
 * @param {FilterModel} m
 * @param {Filter} f
 * @param {number} at
 * @returns {number[]}
 */
export function filterWorkloads(m, f, at) {
  const words = wordsOf(f.query);
  const clusters = clustersOf(m, f);
  /** @type {number[]} */
  const found = [];
  m.run.workloads.forEach((w, i) => {
    if (f.outcome && w.outcome !== f.outcome) return;
    if (f.namespace && namespaceOf(w.name) !== f.namespace) return;
    if (clusters && !w.on.some((o) => clusters.has(o.cluster))) return;
    if (words.length) {
      const name = w.name.toLowerCase();
      const holds = (/** @type {string} */ word) => name.includes(word) || isLabel(word) && m.isLabelled(w, word) || w.on.some((o) => isNamed(m, o.cluster, word));
      if (!words.every(holds)) return;
    }
    if (f.state && !m.states(w, at).has(f.state)) return;
    found.push(i);
  });
  return found;
}

/** @param {string} word */
function isLabel(word) { return word.includes('='); }

/** Whether a cluster's name holds a word, or the word is a label of it. @param {FilterModel} m @param {number} cluster @param {string} word */
function isNamed(m, cluster, word) {
  const c = m.run.clusters[cluster];
  return c.name.toLowerCase().includes(word) || isLabel(word) && m.isLabelled(c, word);
}

/**
 * The clusters that a filter names; null: it names none.
 * @param {FilterModel} m
 * @param {Filter} f
 * @returns {Set<number> | null}
 */
export function clustersOf(m, f) {
  if (!f.cluster && !f.region) return null;
  /** @type {Set<number>} */
  const found = new Set();
  m.run.clusters.forEach((c, i) => {
    if ((!f.cluster || c.name === f.cluster) && (!f.region || c.region === f.region)) found.add(i);
  });
  return found;
}

/**
 * The clusters that a view shows: those of the filter whose names hold its words, or that the workloads it found run on.
 * @param {FilterModel} m
 * @param {Filter} f
 * @param {number[]} workloads
 * @returns {number[]}
 */
export function filterClusters(m, f, workloads) {
  const named = clustersOf(m, f);
  const words = wordsOf(f.query);
  const only = words.length > 0 || f.namespace || f.outcome || f.state;
  const used = new Set(only ? workloads.flatMap((i) => m.run.workloads[i].on.map((o) => o.cluster)) : []);
  return m.run.clusters.map((_, i) => i).filter((i) => {
    if (named && !named.has(i)) return false;
    return !only || used.has(i) || (words.length > 0 && words.every((w) => isNamed(m, i, w)));
  });
}
