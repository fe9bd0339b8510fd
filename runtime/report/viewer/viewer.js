// The page: reads what it holds, shows the report that it is of, one run, or the list of all, and keeps the address in step with what is shown.
import { h, fill, button } from './dom.js';
import { clockText, numberText, slideView, spanText, zoomView, viewBetween } from './scale.js';
import { Model } from './model.js';
import { Session } from './state.js';
import { barOf } from './layout.js';
import { fromFragment, toFragment } from './link.js';
import { LeewardAxis, LeewardFleet, LeewardReplicas, LeewardRegion } from './charts.js';
import { LeewardLanes, LeewardSwatch, kindsOf, legend } from './lanes.js';
import { LeewardFilters, LeewardReason, LeewardTranscript } from './panels.js';
import { stormReport } from './storm.js';
import { assessmentReport } from './assess.js';
import { shadowReport } from './shadow.js';

/** @typedef {{name: string, file: string, seed: number, profile: string, passed: boolean, failed: number, expected: number, workloads: number, clusters: number, nodes: number, pods: number, end: number}} Entry */

/** The version of docs/viewer-data.md that this page reads. */
const readable = 1;

/** The views of reports, by the format of their data, with what a link back to each is called. @type {Record<string, [(data: any) => HTMLElement, string]>} */
const reports = { 'leeward.dev/storm': [stormReport, 'The storm'], 'leeward.dev/assessment': [assessmentReport, 'All contingencies'], 'leeward.dev/shadow': [shadowReport, 'The report'] };

/** Data of a version that this page reads. @param {any} data */
function known(data) {
  if (data.version !== readable) throw new Error(`version ${data.version} of its data is not known, only ${readable}`);
  return data;
}

/** Data of the page: compressed JSON in a block that is not run. @param {string} id @returns {Promise<any>} */
async function readBlock(id) {
  const text = document.getElementById(id)?.textContent ?? '';
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

/** Milliseconds between two steps of playing. */
const beat = 350;

export class LeewardViewer extends HTMLElement {
  connectedCallback() {
    this.addEventListener('keydown', (e) => this.key(e));
    document.addEventListener('keydown', (e) => { if (e.target === document.body) this.key(e); });
    window.addEventListener('hashchange', () => { void this.open(); });
    void this.begin();
  }

  async begin() {
    try {
      /** @type {Entry[]} */
      this.index = await readBlock('index');
      if (document.getElementById('report')) this.report = known(await readBlock('report'));
      await this.open();
    } catch (error) {
      fill(this, h('p', { class: 'empty' }, `This page could not be read: ${error instanceof Error ? error.message : error}`));
      throw error;
    }
  }

  /** Shows what the address says. */
  async open() {
    const index = this.index ?? [];
    const link = fromFragment(location.hash);
    clearInterval(this.timer);
    clearTimeout(this.later);
    if (link.run < 0 && index.length === 1 && !this.report) link.run = 0;
    if (!index[link.run]) {
      this.s = undefined;
      if (this.report) fill(this, reports[this.report.format][0](this.report));
      else this.list(index);
      performance.mark('leeward-shown');
      return;
    }
    const data = known(await readBlock(`run-${link.run}`));
    const s = new Session(new Model(data.runs[0]), link);
    if (data.runs[0].prediction && !location.hash.includes('at=')) s.failed();
    this.show(s);
  }

  /** The list of all runs. @param {Entry[]} index */
  list(index) {
    const failed = index.filter((r) => !r.passed).length;
    document.title = 'Leeward replay';
    const rows = h('tbody');
    const columns = /** @type {[string, (r: Entry) => number][]} */ ([['Clusters', (r) => r.clusters], ['Workloads', (r) => r.workloads], ['Nodes', (r) => r.nodes], ['Pods', (r) => r.pods]]).filter(([, of], i) => i < 2 || index.some(of));
    const write = (/** @type {string} */ query, /** @type {string} */ verdict) => {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      fill(rows, index.map((r, i) => ({ r, i })).filter(({ r }) => (!verdict || r.passed === (verdict === 'passed')) && words.every((w) => `${r.name} ${r.file}`.toLowerCase().includes(w))).slice(0, 5000).map(({ r, i }) => h('tr', {},
        h('td', {}, h('b', { class: r.passed ? 'passed' : 'failed' }, r.passed ? '✓ passed' : '✗ failed')), h('td', {}, h('a', { href: `#run=${i}` }, r.name), h('div', { class: 'soft small' }, r.file)),
        h('td', { class: 'number' }, r.failed ? `${r.failed} of ${r.expected}` : String(r.expected)), columns.map(([, of]) => h('td', { class: 'number' }, numberText(of(r)))), h('td', { class: 'number' }, clockText(r.end)), h('td', {}, `${r.profile}, seed ${r.seed}`))));
    };
    let query = '';
    let verdict = '';
    fill(this, h('main', { class: 'index' }, h('h1', {}, index.length ? `${numberText(index.length)} runs` : 'No run'), h('p', { class: 'soft' }, failed ? `${numberText(failed)} failed` : 'all passed'),
      h('div', { class: 'filters' }, h('input', { type: 'search', id: 'search', placeholder: 'Search runs', 'aria-label': 'Search runs', oninput: (/** @type {Event & {target: HTMLInputElement}} */ e) => write(query = e.target.value, verdict) }),
        h('select', { 'aria-label': 'Filter by verdict', onchange: (/** @type {Event & {target: HTMLSelectElement}} */ e) => write(query, verdict = e.target.value) }, h('option', { value: '' }, 'All verdicts'), h('option', { value: 'failed' }, 'failed'), h('option', { value: 'passed' }, 'passed'))),
      h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Runs' }, h('table', {}, h('thead', {}, h('tr', {}, ['Verdict', 'Scenario', 'Expectations', ...columns.map(([t]) => t), 'Quiet since', 'Profile'].map((t, i) => h('th', { scope: 'col', class: i > 1 && t !== 'Profile' ? 'number' : '' }, t)))), rows))));
    write('', '');
  }

  /** @param {Session} s */
  show(s) {
    this.s = s;
    const { run } = s.model;
    document.title = `${run.name} – Leeward ${run.prediction ? 'prediction' : 'replay'}`;
    const failed = run.expectations.filter((e) => !e.passed).length;
    const verdict = run.prediction ? 'predicted' : run.error ? '✗ ended early' : run.passed ? '✓ passed' : `✗ ${failed} of ${run.expectations.length} failed`;
    const kind = run.prediction ? 'soft' : run.passed ? 'passed' : 'failed';
    const back = this.report ? reports[this.report.format][1] : (this.index?.length ?? 0) > 1 ? `All ${numberText(this.index?.length ?? 0)} runs` : '';
    const to = this.report && run.prediction ? `#${new URLSearchParams({ of: run.name })}` : '#';
    const notes = [run.error && `The run ended early: ${run.error}`, ...Object.entries(run.omitted).map(([of, n]) => n && `${numberText(n)} ${of} are omitted`)].filter(Boolean);
    const filters = make('leeward-filters', LeewardFilters);
    const parts = { axis: make('leeward-axis', LeewardAxis), fleet: make('leeward-fleet', LeewardFleet), replicas: make('leeward-replicas', LeewardReplicas), pods: make('leeward-replicas', LeewardReplicas), lanes: make('leeward-lanes', LeewardLanes), reason: make('leeward-reason', LeewardReason), transcript: make('leeward-transcript', LeewardTranscript) };
    const placed = run.replicas.placed.some(Boolean);
    const regions = placed ? run.regions.map(() => make('leeward-region', LeewardRegion)) : [];
    this.filters = filters;
    fill(this,
      h('header', { class: 'top' },
        h('div', { class: 'title' }, back ? h('a', { href: to, class: 'all' }, back) : null, h('h1', {}, run.name), h('span', { class: `verdict ${kind}` }, verdict),
          h('span', { class: 'soft small' }, `profile ${run.profile} · seed ${run.seed} · ${spanText(run.end)}`)),
        run.description ? h('p', { class: 'description soft' }, run.description) : null, notes.map((n) => h('p', { class: 'failed' }, n))),
      h('section', { class: 'bar', 'aria-label': 'Search and time' }, filters, this.controls(s)),
      h('main', {},
        h('div', { class: 'charts' }, parts.axis, parts.fleet, run.replicas.at.length > 1 && (placed || !run.pods) ? parts.replicas : null, run.pods ? parts.pods : null,
          regions.length ? h('details', { class: 'regions', open: regions.length <= 4 && innerHeight >= 860 }, h('summary', {}, 'Capacity by region'), h('div', { class: 'regionlist' }, regions)) : null),
        parts.lanes, h('div', { class: 'legend' }, legend(kindsOf(s.model), s.model))),
      h('aside', {}, parts.reason, parts.transcript));
    filters.start(s);
    parts.axis.start(s);
    parts.fleet.start(s);
    if (parts.replicas.isConnected) parts.replicas.start(s);
    if (run.pods) parts.pods.start(s, 'pods');
    regions.forEach((r, i) => r.start(s, i));
    parts.lanes.start(s);
    parts.reason.start(s);
    parts.transcript.start(s);
    s.subscribe((changes) => { if ([...changes].some((c) => c !== 'hover' && c !== 'play')) this.remember(); });
    s.changed('view', 'rows');
    performance.mark('leeward-shown');
  }

  /** Steps, playing, zoom, the kind of axis, grouping. @param {Session} s */
  controls(s) {
    const { run } = s.model;
    const play = button('Play', '▶', () => this.play(), { class: 'play' });
    const time = h('output', { class: 'clock', 'aria-label': 'Time of the cursor' });
    const axis = h('select', { 'aria-label': 'Axis of time', onchange: (/** @type {Event & {target: HTMLSelectElement}} */ e) => s.useAxis(e.target.value === 'clock' ? 'clock' : 'event') }, h('option', { value: 'event' }, 'Time by event'), h('option', { value: 'clock' }, 'Time to scale'));
    const group = h('select', { 'aria-label': `Group ${s.model.loads}`, onchange: (/** @type {Event & {target: HTMLSelectElement}} */ e) => s.groupBy(/** @type {'none'} */ (e.target.value)) },
      h('option', { value: 'outcome' }, 'Group by outcome'), h('option', { value: 'namespace' }, 'Group by namespace'), run.pods ? ['node', 'zone', 'owner'].map((by) => h('option', { value: by }, `Group pods by ${by}`)) : null, h('option', { value: 'none' }, 'No groups'));
    const write = () => {
      time.textContent = clockText(s.cursor);
      axis.value = s.axis.kind;
      group.value = s.group;
      if (play.getAttribute('aria-label') !== (s.playing ? 'Pause' : 'Play')) {
        fill(play, s.playing ? '❚❚' : '▶');
        play.setAttribute('aria-label', s.playing ? 'Pause' : 'Play');
      }
    };
    s.subscribe(write);
    write();
    const middle = () => (s.view.from + s.view.to) / 2;
    const help = h('dialog', { 'aria-label': 'Keys' }, h('h2', {}, 'Keys'), h('dl', { class: 'keys' }, keysHelp.map(([k, words]) => [h('dt', {}, h('kbd', {}, k)), h('dd', {}, words)])), h('form', { method: 'dialog' }, h('button', {}, 'Close')));
    this.help = help;
    return h('div', { class: 'controls', role: 'toolbar', 'aria-label': 'Time' },
      button('Rewind to the start', '|◀', () => s.go(0)), button('Step back to the last change', '◂', () => s.step(-1)), play, button('Step to the next change', '▸', () => s.step(1)), time,
      button('Zoom in', '+', () => s.look(zoomView(s.view, 0.5, middle()))), button('Zoom out', '−', () => s.look(zoomView(s.view, 2, middle()))), button('Show the whole run', 'All', () => s.look({ from: 0, to: 1 })), axis, group, button('Keys', '?', () => help.showModal()), help);
  }

  play() {
    const { s } = this;
    if (!s) return;
    s.playing = !s.playing;
    clearInterval(this.timer);
    if (s.playing) {
      if (s.cursor >= s.model.run.end) s.go(0);
      this.timer = setInterval(() => {
        if (s.step(1)) return;
        s.playing = false;
        clearInterval(this.timer);
        s.changed('play');
      }, beat);
    }
    s.changed('play');
  }

  /** Writes the view into the address, once it rests. */
  remember() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.later = undefined;
      if (!this.s) return;
      const link = this.s.link();
      if (this.index?.length === 1 && !this.report) link.run = -1;
      const fragment = toFragment(link);
      if (location.hash !== fragment) history.replaceState(null, '', fragment || location.pathname + location.search); // which is no hashchange
    }, 150);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const { s } = this;
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement || e.target instanceof HTMLTextAreaElement;
    if (typing && e.key === 'Escape') {
      /** @type {HTMLElement} */ (e.target).blur();
      return;
    }
    if (typing) return;
    if (e.key === '/') {
      e.preventDefault();
      document.getElementById('search')?.focus();
      return;
    }
    if (!s || this.help?.open) return;
    const pressing = e.target instanceof HTMLButtonElement || (e.target instanceof Element && ['SUMMARY', 'A'].includes(e.target.tagName));
    const at = s.axis.at(s.cursor);
    /** @type {Record<string, () => void>} */
    const keys = {
      '+': () => s.look(zoomView(s.view, 0.5, at)), '=': () => s.look(zoomView(s.view, 0.5, at)), '-': () => s.look(zoomView(s.view, 2, at)), 0: () => s.look({ from: 0, to: 1 }),
      '.': () => s.step(1), ',': () => s.step(-1), '[': () => s.look(slideView(s.view, -0.25)), ']': () => s.look(slideView(s.view, 0.25)),
      Home: () => s.go(0), End: () => s.go(s.model.run.end),
      l: () => s.useAxis(s.axis.kind === 'clock' ? 'event' : 'clock'), z: () => this.zoomToSelected(s), ' ': () => this.play(), '?': () => this.help?.showModal(),
      Escape: () => s.select(''), t: () => this.querySelector('leeward-lanes')?.querySelector(/** @type {'div'} */ ('.names'))?.focus(),
    };
    if (!Object.hasOwn(keys, e.key) || (pressing && e.key === ' ')) return;
    e.preventDefault();
    keys[e.key]();
  }

  /** @param {Session} s */
  zoomToSelected(s) {
    const found = s.selected ? barOfSession(s) : null;
    if (!found) return;
    const from = s.axis.at(found[1]);
    const to = s.axis.at(s.model.ends(found));
    const edge = Math.max((to - from) * 0.15, 0.002);
    s.look(viewBetween(from - edge, to + edge));
  }
}


/** @param {Session} s */
function barOfSession(s) { return barOf(s.model, s.selected)?.bar ?? null; }

const keysHelp = [
  ['/', 'search'], ['t', 'to the lanes'], ['↑ ↓', 'from lane to lane'], ['← →', 'from bar to bar, with its reason'], ['Enter', 'open or close a lane'], ['p', 'pin or unpin a lane'], ['. ,', 'step to the next change, or back'], ['Space', 'play or pause'],
  ['Home End', 'cursor to the start, or the end'], ['+ −', 'zoom'], ['z', 'zoom to the selected bar'], ['[ ]', 'move the view'], ['0', 'the whole run'], ['l', 'time to scale, or by event'], ['Esc', 'select nothing'],
];

/**
 * An element of a class of this page.
 * @template {HTMLElement} T
 * @param {string} name
 * @param {new () => T} type
 * @returns {T}
 */
function make(name, type) {
  if (!customElements.get(name)) customElements.define(name, type);
  return /** @type {T} */ (document.createElement(name));
}

make('leeward-swatch', LeewardSwatch);
customElements.define('leeward-viewer', LeewardViewer);
