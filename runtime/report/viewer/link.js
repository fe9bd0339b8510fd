// Permalinks: what the fragment of the address says of a view. A fragment is what anybody may have written: what it says is checked.
import { noFilter } from './filter.js';

/** @typedef {import('./filter.js').Filter} LinkFilter */
/** @typedef {'outcome' | 'namespace' | 'node' | 'zone' | 'owner' | 'none'} Grouping */
/**
 * @typedef {object} Linked
 * @property {number} run -1: the list of all runs
 * @property {number} from an instant
 * @property {number} to an instant; 0: the end
 * @property {number} at the cursor
 * @property {'clock' | 'event'} axis
 * @property {Grouping} group
 * @property {string} selected the address of a bar, a row or a fact
 * @property {string[]} pins
 * @property {string[]} toggled rows that are not as they are at first: open or closed
 * @property {LinkFilter} filter
 */

/** Most rows that a permalink names, and the longest word of a filter. */
const mostLinked = 100;
const longestWord = 200;

const groupings = ['outcome', 'namespace', 'node', 'zone', 'owner', 'none'];
const addressForm = /^[a-zA-Z]:?[\w .:/-]{0,260}$/;

/** @returns {Linked} */
export function firstLink() {
  return { run: -1, from: 0, to: 0, at: 0, axis: 'event', group: 'outcome', selected: '', pins: [], toggled: [], filter: { ...noFilter } };
}

/** @param {Linked} v @returns {string} the fragment, with its # */
export function toFragment(v) {
  const p = new URLSearchParams();
  const first = firstLink();
  /** @param {string} name @param {string | number} value @param {string | number} usual */
  const put = (name, value, usual) => { if (value !== usual) p.set(name, String(value)); };
  put('run', v.run, first.run);
  put('from', Math.round(v.from), 0);
  put('to', Math.round(v.to), 0);
  put('at', Math.round(v.at), 0);
  put('axis', v.axis, first.axis);
  put('group', v.group, first.group);
  put('sel', v.selected, '');
  for (const key of Object.keys(noFilter)) put(key, v.filter[/** @type {keyof LinkFilter} */ (key)], '');
  for (const pin of v.pins.slice(0, mostLinked)) p.append('pin', pin);
  for (const key of v.toggled.slice(0, mostLinked)) p.append('row', key);
  const text = p.toString();
  return text ? `#${text}` : '';
}

/** @param {string} fragment @returns {Linked} */
export function fromFragment(fragment) {
  const p = new URLSearchParams(fragment.replace(/^#/, ''));
  const v = firstLink();
  /** @param {string} name @param {number} usual */
  const whole = (name, usual) => {
    const text = p.get(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : usual;
  };
  v.run = whole('run', v.run);
  v.from = whole('from', 0);
  v.to = whole('to', 0);
  v.at = whole('at', 0);
  if (p.get('axis') === 'clock') v.axis = 'clock';
  const group = p.get('group') ?? '';
  if (groupings.includes(group)) v.group = /** @type {Grouping} */ (group);
  const address = (/** @type {string} */ text) => addressForm.test(text);
  v.selected = [p.get('sel') ?? ''].find(address) ?? '';
  v.pins = p.getAll('pin').filter(address).slice(0, mostLinked);
  v.toggled = p.getAll('row').filter(address).slice(0, mostLinked);
  for (const key of Object.keys(noFilter)) v.filter[/** @type {keyof LinkFilter} */ (key)] = (p.get(key) ?? '').slice(0, longestWord);
  return v;
}
