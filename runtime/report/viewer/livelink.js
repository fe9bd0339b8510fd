// Permalinks of the live page: what the fragment of its address says. Anyone may have written it: what it says is checked.

/** @typedef {{q: string, selected: string, pins: string[]}} LiveLinked */

const longestQuery = 200;
const mostPinned = 12;
/** A cluster "c:name", or a binding "b:namespace/name". */
const linkForm = /^(c:[^\s/]{1,253}|b:([^\s/]{1,253}\/)?[^\s/]{1,253})$/;

/** @param {LiveLinked} v @returns {string} the fragment, with its # */
export function toLive(v) {
  const p = new URLSearchParams();
  if (v.q) p.set('q', v.q);
  if (v.selected) p.set('sel', v.selected);
  for (const pin of v.pins.slice(0, mostPinned)) p.append('pin', pin);
  return p.size ? `#${p}` : '';
}

/** @param {string} fragment @returns {LiveLinked} */
export function fromLive(fragment) {
  const p = new URLSearchParams(fragment.replace(/^#/, ''));
  const is = (/** @type {string} */ what) => linkForm.test(what);
  return { q: (p.get('q') ?? '').slice(0, longestQuery), selected: [p.get('sel') ?? ''].find(is) ?? '', pins: [...new Set(p.getAll('pin').filter(is))].slice(0, mostPinned) };
}
