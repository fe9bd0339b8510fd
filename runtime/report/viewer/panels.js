// Panels: the reason of what is selected, the transcript in step with the cursor, and the filters.
import { h, fill, button } from './dom.js';
import { clockText, lowerBound, numberText } from './scale.js';
import { barOf } from './layout.js';
import { looks, lookWords } from './paint.js';
import { factOf } from './state.js';
import { swatch, timesOf } from './lanes.js';
import { isFiltered } from './filter.js';
import { outcomes } from './model.js';

/** @typedef {import('./state.js').Session} PanelSession */

/** Most facts of a bar or a lane that the reason names one by one. */
const mostFacts = 60;

/** What is selected, from when to when, and why. */
export class LeewardReason extends HTMLElement {
  /** @param {PanelSession} s */
  start(s) {
    this.s = s;
    this.body = h('div', { class: 'reason' });
    fill(this, h('h2', {}, 'Reason'), this.body);
    this.write();
    s.subscribe((changes) => { if (changes.has('selection')) this.write(); });
  }

  write() {
    const { s, body } = this;
    if (!s || !body) return;
    const bar = barOf(s.model, s.selected);
    const fact = factOf(s.model, s.selected);
    if (bar) fill(body, this.ofBar(s, bar));
    else if (fact >= 0) fill(body, this.ofFact(s, fact, true), this.explain(s, s.model.facts.workload[fact], s.model.facts.cluster[fact], s.model.facts.at[fact]));
    else fill(body, this.ofRow(s));
    body.scrollTop = 0;
  }

  /** @param {PanelSession} s @param {{bar: number[], track: {name: number}, owner: string, on: number}} found */
  ofBar(s, found) {
    const m = s.model;
    const { bar, owner, on } = found;
    const kind = m.kind(bar);
    const i = Number(owner.slice(1));
    const workload = owner[0] === 'w' ? m.run.workloads[i] : undefined;
    const cluster = workload ? (on >= 0 ? workload.on[on].cluster : -1) : owner[0] === 'c' ? i : -1;
    const name = workload?.name ?? (cluster >= 0 ? m.run.clusters[cluster].name : { g: 'Governor', i: 'Inputs' }[owner[0]] ?? '');
    const facts = bar.slice(4);
    return [
      h('h3', {}, name, workload && cluster >= 0 ? h('span', { class: 'soft' }, ` on ${m.run.clusters[cluster].name}`) : null),
      h('p', { class: 'state' }, swatch(kind), h('strong', {}, m.text(bar[3]) || looks[kind]?.words || kind), h('span', { class: 'soft' }, ` ${timesOf(s, bar)}`)),
      facts.slice(0, mostFacts).map((f, n) => this.ofFact(s, f, n === 0 || facts.length < 4)),
      facts.length > mostFacts ? h('p', { class: 'soft' }, `${numberText(facts.length - mostFacts)} more facts`) : null,
      this.explain(s, workload ? i : -1, cluster, bar[1]),
    ];
  }

  /** One fact and the parts of its reason. @param {PanelSession} s @param {number} f @param {boolean} whole */
  ofFact(s, f, whole) {
    const m = s.model;
    const parts = m.reason(f);
    const why = m.text(m.facts.why[f]);
    return h('section', { class: 'fact' },
      h('p', {}, button(`Go to ${clockText(m.facts.at[f])}`, clockText(m.facts.at[f]), () => s.go(m.facts.at[f]), { class: 'time' }), ' ', m.sentence(f)),
      parts.length && whole ? h('dl', {}, parts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])) : why ? h('p', { class: 'soft why' }, why) : null);
  }

  /** @param {PanelSession} s */
  ofRow(s) {
    const m = s.model;
    const key = s.selected.replace(/^p:/, '').split('/')[0];
    const i = Number(key.slice(1));
    if (key === 'e') return m.run.expectations.map((e) => h('section', { class: 'fact' }, h('p', {}, h('b', { class: e.passed ? 'passed' : 'failed' }, e.passed ? '✓ ' : '✗ '),
      button(`Go to ${clockText(e.at)}`, clockText(e.at), () => s.go(e.at), { class: 'time' }), ' ', e.text), e.reason ? h('p', { class: 'soft why' }, e.reason) : null));
    if (key[0] === 'w' && m.run.workloads[i]) {
      const w = m.run.workloads[i];
      const facts = m.told.filter((f) => m.facts.workload[f] === i);
      return [h('h3', {}, w.name), h('p', {}, h('span', { class: 'chip' }, w.outcome), h('span', { class: 'soft' }, ` ${w.on.map((o) => m.run.clusters[o.cluster].name).join(', ')}`)),
        this.pinButton(s, key), facts.slice(0, mostFacts).map((f) => this.ofFact(s, f, false)), this.explain(s, i, -1, s.cursor)];
    }
    if (key[0] === 'c' && m.run.clusters[i]) {
      const c = m.run.clusters[i];
      const only = `Only its ${i < m.firstNode ? 'workloads' : 'pods'}`;
      const facts = m.told.filter((f) => m.facts.cluster[f] === i && m.facts.workload[f] < 0);
      const where = [c.region && `${i < m.firstNode ? 'region' : 'zone'} ${c.region}`, c.provider && `provider ${c.provider}`, c.zones?.length && `zones ${c.zones.join(', ')}`].filter(Boolean).join(' · ');
      return [h('h3', {}, c.name), where ? h('p', { class: 'soft' }, where) : null,
        h('p', { class: 'actions' }, this.pinButton(s, key), button(only, only, () => s.filterBy({ cluster: c.name }))),
        facts.length ? facts.slice(0, mostFacts).map((f) => this.ofFact(s, f, false)) : h('p', { class: 'soft' }, 'Nothing happened to it.'), this.explain(s, -1, i, s.cursor)];
    }
    return h('p', { class: 'soft' }, 'Select a bar, a lane or a line of the transcript: its conditions, taints, policies, tolerations, deadlines, permits and placements are told here.');
  }

  /** @param {PanelSession} s @param {string} key */
  pinButton(s, key) {
    const pinned = s.pins.includes(key);
    return button(pinned ? 'Unpin this lane' : 'Pin this lane to the top', pinned ? 'Unpin' : 'Pin', () => {
      s.pin(key);
      s.changed('selection');
    });
  }

  /** The command that tells each cluster's filter and score. @param {PanelSession} s @param {number} workload @param {number} cluster @param {number} at */
  explain(s, workload, cluster, at) {
    const m = s.model;
    if (!m.run.file || m.run.file.endsWith('.jsonl') || (workload < 0 && cluster < 0)) return null;
    const [namespace, name] = workload >= 0 ? split(m.run.workloads[workload].name) : ['', ''];
    const what = workload >= m.firstPod ? `pod ${quoted(m.run.workloads[workload].name)}` : cluster >= m.firstNode ? `node ${quoted(m.run.clusters[cluster].name)}` : workload >= 0 ? `binding ${quoted(name)}${namespace ? ` -n ${quoted(namespace)}` : ''}` : `cluster ${quoted(m.run.clusters[cluster].name)}`;
    return h('div', { class: 'explain' }, h('p', { class: 'soft' }, workload >= 0 && workload < m.firstPod ? "Each cluster's filters and scores:" : 'More of it:'), h('code', { tabindex: 0 }, `leeward explain ${what} -f ${quoted(m.run.file)} --scenario ${quoted(m.run.name)} --at ${Math.floor(at)}ms`));
  }
}

/** @param {string} name */
function split(name) {
  const at = name.indexOf('/');
  return at < 0 ? ['', name] : [name.slice(0, at), name.slice(at + 1)];
}

/** A word as a shell takes it. @param {string} word */
function quoted(word) { return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`; }


const lineHeight = 40;
const tallestTranscript = 12e6;

/** What happened, in order, in step with the cursor. Only lines that can be seen exist. */
export class LeewardTranscript extends HTMLElement {
  /** @param {PanelSession} s */
  start(s) {
    this.s = s;
    this.list = h('div', { class: 'lines', role: 'listbox', tabindex: 0, 'aria-label': 'Transcript' });
    this.space = h('div', { class: 'space' });
    this.scroller = h('div', { class: 'scroller', onscroll: () => this.draw() }, this.space, this.list);
    this.count = h('span', { class: 'soft small' });
    const every = h('input', { type: 'checkbox', onchange: (/** @type {Event & {target: HTMLInputElement}} */ e) => {
      s.every = e.target.checked;
      this.select();
    } });
    fill(this, h('header', {}, h('h2', {}, 'Transcript'), this.count, h('label', { class: 'small' }, every, ' every fact')), this.scroller);
    this.list.addEventListener('click', (e) => {
      const f = e.target instanceof Element ? e.target.closest('[data-fact]')?.getAttribute('data-fact') : null;
      if (f) s.select(`f${f}`);
    });
    this.list.addEventListener('keydown', (e) => this.key(e));
    s.subscribe((changes) => {
      if (changes.has('rows')) this.select();
      else if (changes.has('cursor')) this.follow();
      if (changes.has('selection') || changes.has('cursor')) this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.select();
  }

  /** Chooses the facts: those of what the filter shows. */
  select() {
    const { s } = this;
    if (!s || !this.space || !this.count) return;
    const m = s.model;
    /** @type {number[]} */
    let facts = s.every ? m.facts.at.map((_, i) => i) : m.told;
    if (isFiltered(s.filter)) {
      const workloads = new Set(s.workloads);
      const clusters = new Set(s.clusters);
      facts = facts.filter((f) => (m.facts.workload[f] >= 0 ? workloads.has(m.facts.workload[f]) : m.facts.cluster[f] < 0 || clusters.has(m.facts.cluster[f])));
    }
    this.facts = facts;
    this.times = facts.map((f) => m.facts.at[f]);
    this.space.style.height = `${Math.min(tallestTranscript, facts.length * lineHeight)}px`;
    this.count.textContent = numberText(facts.length);
    this.follow();
    this.draw();
  }

  top() {
    if (!this.scroller || !this.facts) return 0;
    const whole = this.facts.length * lineHeight;
    const most = this.scroller.scrollHeight - this.scroller.clientHeight;
    return whole <= tallestTranscript || most <= 0 ? this.scroller.scrollTop : (this.scroller.scrollTop / most) * (whole - this.scroller.clientHeight);
  }

  /** The line that the cursor is at: the last that has happened. */
  now() { return lowerBound(this.times ?? [], Math.floor(this.s?.cursor ?? 0) + 1) - 1; }

  /** Scrolls to the cursor, or to the selected fact. */
  follow() {
    const { s, scroller, facts } = this;
    if (!s || !scroller || !facts) return;
    const fact = factOf(s.model, s.selected);
    const at = fact >= 0 && s.model.facts.at[fact] === s.cursor ? lowerBound(facts, fact) : this.now();
    const whole = facts.length * lineHeight;
    const view = scroller.clientHeight;
    const top = this.top();
    if (at * lineHeight >= top && (at + 1) * lineHeight <= top + view) return;
    const to = Math.max(0, at * lineHeight - view / 2);
    scroller.scrollTop = whole <= tallestTranscript ? to : (to / Math.max(1, whole - view)) * (scroller.scrollHeight - view);
  }

  draw() {
    const { s, scroller, list, facts } = this;
    if (!s || !scroller || !list || !facts) return;
    const m = s.model;
    const top = this.top();
    const now = this.now();
    const first = Math.max(0, Math.floor(top / lineHeight));
    const last = Math.min(facts.length, Math.ceil((top + scroller.clientHeight) / lineHeight) + 1);
    const lines = [];
    for (let i = first; i < last; i++) {
      const f = facts[i];
      const selected = s.selected === `f${f}`;
      const level = m.facts.level[f];
      const line = h('div', { class: `line${i > now ? ' later' : ''}${i === now ? ' now' : ''}${selected ? ' selected' : ''}`, role: 'option', id: `fact-${f}`, 'aria-selected': String(selected), 'data-fact': f,
        'aria-posinset': i + 1, 'aria-setsize': facts.length },
      h('span', { class: 'time' }, clockText(m.facts.at[f])), h('span', { class: 'what' }, level === 2 ? h('span', { class: 'warn' }, '⚠ ') : null, m.sentence(f)), h('span', { class: 'soft why' }, m.text(m.facts.why[f])));
      line.style.transform = `translateY(${i * lineHeight - top}px)`;
      lines.push(line);
    }
    list.style.height = `${scroller.clientHeight}px`;
    fill(list, lines);
    const fact = factOf(m, s.selected);
    if (fact >= 0 && lines.some((l) => l.id === `fact-${fact}`)) list.setAttribute('aria-activedescendant', `fact-${fact}`);
    else list.removeAttribute('aria-activedescendant');
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const { s, facts } = this;
    if (!s || !facts?.length || e.ctrlKey || e.metaKey || e.altKey) return;
    const selected = factOf(s.model, s.selected);
    const at = selected >= 0 ? lowerBound(facts, selected) : this.now();
    /** @type {Record<string, number>} */
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: facts.length - 1, PageDown: at + 8, PageUp: at - 8 };
    if (!(e.key in to)) return;
    e.preventDefault();
    e.stopPropagation();
    s.select(`f${facts[Math.max(0, Math.min(facts.length - 1, to[e.key]))]}`);
    this.follow();
  }
}

/** Search and filters. */
export class LeewardFilters extends HTMLElement {
  /** @param {PanelSession} s */
  start(s) {
    this.s = s;
    const { model: m } = s;
    const search = h('input', { type: 'search', id: 'search', placeholder: 'Search names, or labels: app=web', 'aria-label': `Search ${m.loads} and ${m.places} by name, or by label`, value: s.filter.query, spellcheck: 'false', autocomplete: 'off',
      oninput: (/** @type {Event & {target: HTMLInputElement}} */ e) => s.filterBy({ query: e.target.value }) });
    /** @type {Record<string, HTMLSelectElement>} */
    this.selects = {};
    /** @param {'namespace' | 'cluster' | 'region' | 'state' | 'outcome'} name @param {string} all @param {[string, string][]} options */
    const select = (name, all, options) => {
      if (options.length < 2 && !s.filter[name]) return null;
      const element = h('select', { 'aria-label': `Filter by ${name}`, onchange: (/** @type {Event & {target: HTMLSelectElement}} */ e) => s.filterBy({ [name]: e.target.value }) },
        h('option', { value: '' }, all), options.slice(0, 2000).map(([value, words]) => h('option', { value }, words)));
      if (this.selects) this.selects[name] = element;
      return element;
    };
    const same = (/** @type {string[]} */ list) => /** @type {[string, string][]} */ (list.map((v) => [v, v]));
    const had = new Set(m.run.workloads.map((w) => w.outcome));
    const states = [...(m.firstPod || !m.run.pods ? ['placed', 'starting'] : []), ...(m.run.pods ? ['pending', 'running', 'terminating'] : []), 'healthy', 'unhealthy', 'countdown', 'blocked', 'evicting', 'unschedulable'];
    this.count = h('span', { class: 'soft small count', 'aria-live': 'polite' });
    this.clear = button('Clear search and filters', 'Clear', () => {
      search.value = '';
      s.unfilter();
      search.focus();
    });
    fill(this, search, select('namespace', 'All namespaces', same(m.namespaces.filter(Boolean))), select('cluster', `All ${m.places}`, same(m.run.clusters.map((c) => c.name))), select('region', m.firstNode ? 'All regions' : 'All zones', same(m.regions)),
      select('state', 'Any state now', states.map((k) => [k, lookWords(k, m)])), select('outcome', 'All outcomes', same(outcomes.filter((o) => had.has(o)))), this.clear, this.count);
    this.search = search;
    s.subscribe((changes) => { if (changes.has('rows')) this.write(); });
    this.write();
  }

  write() {
    const { s } = this;
    if (!s || !this.count || !this.clear || !this.selects) return;
    for (const [name, element] of Object.entries(this.selects)) element.value = s.filter[/** @type {'state'} */ (name)];
    if (this.search && this.search.value !== s.filter.query) this.search.value = s.filter.query;
    this.clear.disabled = !isFiltered(s.filter);
    this.count.textContent = `${numberText(s.workloads.length)} of ${numberText(s.model.run.workloads.length)} ${s.model.loads}`;
  }
}
