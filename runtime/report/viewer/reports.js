// What reports have in common: tiles, tables, and an address that holds the view.
import { h } from './dom.js';

/** @typedef {import('./dom.js').DomChild} ReportChild */
/** @typedef {Record<string, string>} ReportView what the fragment of the address says, by name */

/** Longest word of a view. */
const longestView = 300;

/** @param {string} fragment @param {ReportView} first the names, with what they are at first @returns {ReportView} */
export function readView(fragment, first) {
  const p = new URLSearchParams(fragment.replace(/^#/, ''));
  return Object.fromEntries(Object.entries(first).map(([name, usual]) => [name, (p.get(name) ?? usual).slice(0, longestView)]));
}

/** @param {ReportView} view @param {ReportView} first @returns {string} the fragment, with its # */
export function writeView(view, first) {
  const p = new URLSearchParams(Object.entries(view).filter(([name, value]) => value !== first[name]));
  return p.size ? `#${p}` : '';
}

/** The view of a report, and its place in the address. @param {ReportView} first @param {() => void} changed */
export function reportView(first, changed) {
  const view = readView(location.hash, first);
  return { view, set: (/** @type {ReportView} */ part) => {
    Object.assign(view, part);
    history.replaceState(null, '', writeView(view, first) || location.pathname + location.search);
    changed();
  } };
}

/** @param {[string, string, string?][]} list name, value, detail */
export function tiles(list) {
  return h('div', { class: 'tiles' }, list.map(([name, value, detail]) => h('div', { class: 'tile' }, h('div', { class: 'big' }, value), h('div', {}, name), detail ? h('div', { class: 'soft small' }, detail) : null)));
}

/** A part of a report. @param {string} title @param {string} caption @param {...ReportChild} content */
export function part(title, caption, ...content) { return h('section', { class: 'part' }, h('h2', {}, title), caption ? h('p', { class: 'soft small' }, caption) : null, content); }

/** A table; columns that begin with # are of numbers. @param {string} name @param {string[]} columns @param {ReportChild[][]} rows */
export function grid(name, columns, rows) {
  const numbers = columns.map((c) => c.startsWith('#'));
  return h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': name }, h('table', {}, h('thead', {}, h('tr', {}, columns.map((c, i) => h('th', { scope: 'col', class: numbers[i] ? 'number' : '' }, c.replace(/^#/, ''))))),
    h('tbody', {}, rows.map((r) => h('tr', {}, r.map((cell, i) => h('td', { class: numbers[i] ? 'number' : '' }, cell)))))));
}

/** @param {string} command @param {string} [note] */
export function again(command, note = '') { return part('Run it again', '', h('p', { class: 'explain' }, h('code', { tabindex: 0 }, command)), note ? h('p', { class: 'soft small' }, note) : null); }

/** A search field. @param {string} what @param {string} value @param {(value: string) => void} tell */
export function searchField(what, value, tell) {
  return h('input', { type: 'search', id: 'search', placeholder: what, 'aria-label': what, value, spellcheck: 'false', autocomplete: 'off', oninput: (/** @type {Event & {target: HTMLInputElement}} */ e) => tell(e.target.value) });
}

/** @param {string} name @param {string} value @param {[string, string][]} options @param {(value: string) => void} tell */
export function choice(name, value, options, tell) {
  return h('select', { 'aria-label': name, onchange: (/** @type {Event & {target: HTMLSelectElement}} */ e) => tell(e.target.value) }, options.map(([v, words]) => h('option', { value: v, selected: v === value }, words)));
}

/** Whether a text holds all words of a search. @param {string} query @param {string} text */
export function holdsWords(query, text) {
  const lower = text.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((w) => lower.includes(w));
}
