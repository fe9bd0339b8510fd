// The session: what is shown of a run, and who draws it. Parts of the page subscribe; each change draws them once, in the next frame.
import { clockAxis, clockText, eventAxis, lowerBound, viewBetween, clamp } from './scale.js';
import { filterWorkloads, filterClusters, isFiltered, noFilter } from './filter.js';
import { rowsOf, barOf } from './layout.js';
import { firstLink } from './link.js';

/** @typedef {import('./model.js').Model} SessionModel */
/** @typedef {import('./filter.js').Filter} SessionFilter */
/** @typedef {import('./scale.js').Axis} SessionAxis */
/** @typedef {import('./scale.js').View} SessionView */
/** @typedef {import('./link.js').Linked} SessionLink */
/** @typedef {import('./layout.js').Row} SessionRow */
/** @typedef {'view' | 'cursor' | 'rows' | 'selection' | 'hover' | 'play'} Change */

export class Session {
  /** @param {SessionModel} model @param {SessionLink} link */
  constructor(model, link) {
    this.model = model;
    this.run = link.run;
    this.clock = clockAxis(model.run.end);
    this.events = eventAxis(model.instants, model.run.end);
    /** @type {SessionAxis} */
    this.axis = link.axis === 'clock' ? this.clock : this.events;
    /** @type {SessionView} */
    this.view = { from: 0, to: 1 };
    if (link.to > link.from) this.view = viewBetween(this.axis.at(link.from), this.axis.at(link.to));
    this.cursor = clamp(link.at, 0, model.run.end);
    /** @type {SessionFilter} */
    this.filter = { ...link.filter };
    this.group = link.group;
    this.selected = link.selected;
    this.focus = '';
    this.pins = [...link.pins];
    /** What is pinned is called so. @type {string | undefined} */
    this.pinned = undefined;
    this.toggled = new Set(link.toggled);
    this.playing = false;
    /** Whether the transcript has the facts that follow from others, too. */
    this.every = false;
    /** @type {{from: number, to: number} | null} */
    this.brush = null;
    /** @type {number | null} */
    this.hover = null;
    /** Of a run that goes on: until when it is known. @type {number | undefined} */
    this.now = undefined;
    /** How instants are written, and what they count from in the words of an axis. */
    this.clockText = clockText;
    this.offset = 0;
    /** @type {number[]} */
    this.workloads = [];
    /** @type {number[]} */
    this.clusters = [];
    /** @type {SessionRow[]} */
    this.rows = [];
    /** @type {((changes: Set<Change>) => void)[]} */
    this.listeners = [];
    /** @type {Set<Change>} */
    this.changes = new Set();
    this.layOut();
  }

  layOut() {
    this.workloads = filterWorkloads(this.model, this.filter, this.cursor);
    this.clusters = filterClusters(this.model, this.filter, this.workloads);
    this.lines();
  }

  lines() {
    this.rows = rowsOf(this.model, { workloads: this.workloads, clusters: this.clusters, group: this.group, toggled: this.toggled, pins: this.pins, pinned: this.pinned, filtered: isFiltered(this.filter) });
  }

  /** @param {(changes: Set<Change>) => void} listener */
  subscribe(listener) { this.listeners.push(listener); }

  /** @param {...Change} changes */
  changed(...changes) {
    if (!this.changes.size) requestAnimationFrame(() => this.draw());
    for (const c of changes) this.changes.add(c);
  }

  draw() {
    const changes = this.changes;
    this.changes = new Set();
    for (const listener of this.listeners) listener(changes);
  }

  /** A run that goes on has come further: the view remains on the instants that it shows, and a cursor that is now remains so. @param {SessionModel} model @param {number} now */
  goOn(model, now) {
    const { from, to } = this.view;
    const shown = from === 0 && to === 1 ? null : [this.axis.instant(from), this.axis.instant(to)];
    if (this.now === undefined || this.cursor >= this.now) this.cursor = now;
    this.model = model;
    this.now = now;
    this.axis = this.clock = clockAxis(model.run.end);
    if (shown) this.view = viewBetween(this.axis.at(shown[0]), this.axis.at(shown[1]));
    this.layOut();
    this.changed('view', 'rows', 'cursor');
  }

  /** @param {SessionView} view */
  look(view) {
    this.view = view;
    this.changed('view');
  }

  /** Moves the cursor; the view follows. @param {number} t */
  go(t) {
    this.cursor = clamp(t, 0, this.model.run.end);
    const u = this.axis.at(this.cursor);
    const width = this.view.to - this.view.from;
    if (u < this.view.from || u > this.view.to) this.view = viewBetween(clamp(u - width / 2, 0, 1 - width), clamp(u + width / 2, width, 1));
    if (this.filter.state) {
      this.layOut();
      this.changed('rows');
    }
    this.changed('cursor', 'view');
  }

  /** A run that begins at rest: the cursor goes to the first change after it, and the view begins there. */
  failed() {
    const [, first] = this.model.instants;
    if (first === undefined) return;
    this.cursor = first;
    this.view = viewBetween(this.axis.at(first) - 0.03, 1);
  }

  /** To the next instant at which something changes, or the one before. @param {1 | -1} way @returns {boolean} whether there is one */
  step(way) {
    const instants = this.model.instants;
    const i = lowerBound(instants, this.cursor);
    const next = way < 0 ? i - 1 : instants[i] === this.cursor ? i + 1 : i;
    if (next < 0 || next >= instants.length) return false;
    this.go(instants[next]);
    return true;
  }

  /** @param {'clock' | 'event'} kind */
  useAxis(kind) {
    const from = this.axis.instant(this.view.from);
    const to = this.axis.instant(this.view.to);
    const whole = this.view.from === 0 && this.view.to === 1;
    this.axis = kind === 'clock' ? this.clock : this.events;
    this.view = whole ? { from: 0, to: 1 } : viewBetween(this.axis.at(from), this.axis.at(to));
    this.changed('view');
  }

  /** @param {Partial<SessionFilter>} part */
  filterBy(part) {
    this.filter = { ...this.filter, ...part };
    this.layOut();
    this.changed('rows');
  }

  unfilter() { this.filterBy({ ...noFilter }); }

  /** @param {SessionLink['group']} group */
  groupBy(group) {
    this.group = group;
    this.lines();
    this.changed('rows');
  }

  /** Opens a row, or closes it. @param {string} key */
  toggle(key) {
    if (!this.toggled.delete(key)) this.toggled.add(key);
    this.lines();
    this.changed('rows');
  }

  /** @param {string} key */
  pin(key) {
    const owner = key.replace(/^p:/, '').split('/')[0];
    if (!/^[wc]\d/.test(owner)) return;
    this.pins = this.pins.includes(owner) ? this.pins.filter((p) => p !== owner) : [...this.pins, owner];
    this.lines();
    this.changed('rows');
  }

  /** Selects a row, a bar or a fact; the cursor goes to where it begins unless it is within. @param {string} address */
  select(address) {
    this.selected = address;
    const found = barOf(this.model, address);
    const fact = factOf(this.model, address);
    if (found && (this.cursor < found.bar[1] || this.cursor > this.model.ends(found.bar))) this.go(found.bar[1]);
    if (fact >= 0) this.go(this.model.facts.at[fact]);
    this.changed('selection');
  }

  /** @returns {SessionLink} */
  link() {
    const whole = this.view.from === 0 && this.view.to === 1;
    return {
      ...firstLink(), run: this.run, from: whole ? 0 : this.axis.instant(this.view.from), to: whole ? 0 : Math.max(1, this.axis.instant(this.view.to)), at: this.cursor,
      axis: this.axis.kind, group: this.group, selected: this.selected, pins: this.pins, toggled: [...this.toggled], filter: this.filter,
    };
  }
}

/** The fact of an address; -1: it is of something else. @param {SessionModel} m @param {string} address */
export function factOf(m, address) {
  const f = /^f\d+$/.test(address) ? Number(address.slice(1)) : -1;
  return f < m.facts.at.length ? f : -1;
}
