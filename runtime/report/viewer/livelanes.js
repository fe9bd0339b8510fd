// The fleet over time, as far back as the daemon remembers it: the strip of clusters, replicas, and lanes of clusters, of evictions and of what is
// followed, by the parts that show runs.
import { h, fill, button } from './dom.js';
import { slideView, zoomView } from './scale.js';
import { Model } from './model.js';
import { firstLink } from './link.js';
import { Session } from './state.js';
import { LeewardAxis, LeewardFleet, LeewardReplicas } from './charts.js';
import { LeewardLanes, LeewardSwatch, legend } from './lanes.js';
import { beginning, LiveRun } from './liverun.js';
import { timeOfDay } from './livemodel.js';

/** @typedef {import('./live.js').LeewardLive} LanesPage */

for (const [name, type] of /** @type {[string, new () => HTMLElement][]} */ ([['leeward-axis', LeewardAxis], ['leeward-fleet', LeewardFleet], ['leeward-replicas', LeewardReplicas], ['leeward-lanes', LeewardLanes], ['leeward-swatch', LeewardSwatch]])) customElements.define(name, type);

export class LiveLanes {
  /** @param {LanesPage} page */
  constructor(page) {
    this.page = page;
    this.charts = h('div', { class: 'charts' });
    this.lanes = /** @type {LeewardLanes} */ (document.createElement('leeward-lanes'));
    this.legend = h('div', { class: 'legend' });
    this.explained = 0;
    const look = (/** @type {(s: Session) => void} */ how) => () => { if (this.s) how(this.s); };
    const middle = (/** @type {Session} */ s) => (s.view.from + s.view.to) / 2;
    this.element = h('section', { class: 'timeline', 'aria-label': 'The fleet over time' }, h('header', {}, h('h2', {}, 'Over time'), this.since = h('span', { class: 'soft small' }),
      h('span', { class: 'controls', role: 'toolbar', 'aria-label': 'Time' }, button('Zoom in', '+', look((s) => s.look(zoomView(s.view, 0.5, middle(s))))), button('Zoom out', '−', look((s) => s.look(zoomView(s.view, 2, middle(s))))),
        button('Earlier', '◂', look((s) => s.look(slideView(s.view, -0.25)))), button('Later', '▸', look((s) => s.look(slideView(s.view, 0.25)))), button('Show all, and the cursor now', 'Now', look((s) => this.toNow(s))))),
    this.charts, this.lanes, this.legend);
  }

  /** @param {Session} s */
  toNow(s) {
    s.view = { from: 0, to: 1 };
    s.go(s.now ?? 0);
  }

  /** Takes how the fleet was. @param {import('./livemodel.js').LiveMessage[]} past */
  remember(past) {
    for (const m of past) {
      this.page.model?.apply(m, Date.now());
      this.hear(Date.parse(m.at));
    }
  }

  /** @param {number} now the clock of the daemon @returns {boolean} whether lanes have other numbers now */
  hear(now) {
    const { page } = this;
    if (!page.model?.totals) return false;
    if (!this.run) {
      this.run = new LiveRun(beginning(page.model, now), now);
      fill(this.since, `since ${timeOfDay(now)}${this.run.opened ? ': of before, it shows what went on then' : ''}`);
    }
    return this.run.take(page.model, now);
  }

  /** Takes the picture as it is. @param {number} now the clock of the daemon */
  take(now) {
    const renumbered = this.hear(now);
    if (!this.run) return;
    if (!this.s) this.begin(this.run);
    else if (renumbered) {
      this.s.toggled.clear();
      this.s.selected = this.s.focus = '';
    }
    this.goOn();
  }

  /** @param {LiveRun} run */
  begin(run) {
    const s = new Session(new Model(run.run), { ...firstLink(), axis: 'clock' });
    this.s = s;
    s.now = 0;
    s.pinned = 'Followed';
    s.clockText = (t) => timeOfDay(run.began + t);
    s.offset = (run.began - new Date(run.began).getTimezoneOffset() * 60_000) % 864e5;
    const axis = /** @type {LeewardAxis} */ (document.createElement('leeward-axis'));
    const fleet = /** @type {LeewardFleet} */ (document.createElement('leeward-fleet'));
    const replicas = /** @type {LeewardReplicas} */ (document.createElement('leeward-replicas'));
    fill(this.charts, axis, fleet, replicas);
    for (const part of [axis, fleet, replicas, this.lanes]) part.start(s);
    s.subscribe((changes) => {
      if (changes.has('selection')) this.chose();
      if (changes.has('rows')) this.pinned();
    });
  }

  /** A second has passed. @param {number} now */
  tick(now) {
    if (!this.run || !this.s || document.hidden) return;
    this.run.tick(now);
    if ((this.run.now - (this.s.now ?? 0)) * this.charts.clientWidth >= this.run.run.end) this.goOn(); // it is a pixel
  }

  /** What is followed by itself has changed. @param {string} name @param {import('./liverun.js').BindingObject | null} object @param {number} now */
  object(name, object, now) {
    this.run?.object(name, object, now);
    this.goOn();
  }

  goOn() {
    const { s, run, page } = this;
    if (!s || !run) return;
    s.pins = [...new Set([page.lead ?? '', ...page.pins].map((what) => this.key(what)).filter(Boolean))];
    this.pins = s.pins;
    s.filter = { ...s.filter, query: page.words().join(' ') };
    const owner = this.key(page.selected ?? '');
    if (s.selected.replace(/^p:/, '').split('/')[0] !== owner) s.selected = owner;
    s.goOn(new Model(run.run), run.now);
    if (run.had.size !== this.explained) fill(this.legend, legend(run.had));
    this.explained = run.had.size;
  }

  /** The lane of a cluster "c:name" or a binding "b:namespace/name"; '': there is none. @param {string} what */
  key(what) {
    const i = what.startsWith('c:') ? this.run?.clusters.get(what.slice(2)) : this.run?.workloads.get(what.slice(2));
    return i === undefined ? '' : `${what[0] === 'c' ? 'c' : 'w'}${i}`;
  }

  /** What a lane is of. @param {string} address */
  what(address) {
    const key = address.replace(/^p:/, '').split('/')[0];
    const of = key[0] === 'c' ? this.run?.run.clusters : key[0] === 'w' ? this.run?.run.workloads : undefined;
    const name = of?.[Number(key.slice(1))]?.name;
    return name === undefined ? '' : `${key[0] === 'c' ? 'c' : 'b'}:${name}`;
  }

  /** A lane was selected. */
  chose() {
    const what = this.what(this.s?.selected ?? '');
    if (what && what !== this.page.selected) this.page.select(what, true);
  }

  /** A lane was pinned, or is not any more. */
  pinned() {
    const [now, before] = [this.s?.pins ?? [], this.pins ?? []];
    for (const key of [...now.filter((k) => !before.includes(k)), ...before.filter((k) => !now.includes(k))]) this.page.pin(this.what(key));
  }
}
