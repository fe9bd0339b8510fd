// The picture itself: totals, clusters, evictions with their countdowns, the governor.
import { h, fill } from './dom.js';
import { numberText } from './scale.js';
import { placementText, timeOfDay, until } from './livemodel.js';

/** @typedef {import('./live.js').LeewardLive} BoardPage */
/** @typedef {import('./livemodel.js').LiveCluster} BoardCluster */
/** @typedef {import('./livemodel.js').LiveEviction} BoardEviction */
/** @typedef {import('./livemodel.js').Governance} BoardGovernance */

/** States of workloads, the worst last, with their colours and words. */
const states = /** @type {const} */ ([['settled', 'healthy', 'settled'], ['unhealthy', 'unhealthy', 'not available'], ['scheduled', 'countdown', 'eviction scheduled'], ['evicting', 'evicting', 'evicting'], ['blocked', 'blocked', 'eviction blocked'], ['unschedulable', 'unschedulable', 'unschedulable']]);

/** How many lines of a preview are drawn. */
const mostPreviewed = 200;

export class LiveBoard {
  /** @param {BoardPage} page */
  constructor(page) {
    this.page = page;
    this.totals = h('section', { class: 'totals', 'aria-label': 'Totals' });
    this.rows = h('tbody');
    this.count = h('span', { class: 'soft small' });
    this.clusters = h('section', {}, h('header', {}, h('h2', {}, 'Clusters'), this.count), h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Clusters' },
      h('table', {}, h('thead', {}, h('tr', {}, ['Cluster', 'Region', 'State', 'Taints', 'Available', 'CPU', 'Evictions'].map((t) => h('th', { scope: 'col', class: t === 'Available' || t === 'CPU' ? 'number' : '' }, t)))), this.rows)));
    this.list = h('tbody');
    this.due = h('span', { class: 'soft small' });
    this.evictions = h('section', {}, h('header', {}, h('h2', {}, 'Evictions'), this.due), h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Evictions' },
      h('table', {}, h('thead', {}, h('tr', {}, ['Deadline', 'Workload', 'From', 'State', 'Reason'].map((t) => h('th', { scope: 'col' }, t)))), this.list)));
    this.governance = h('div', {});
    this.pausing = h('div', {});
    this.governor = h('section', { class: 'governor', 'aria-label': 'Governor' }, h('h2', {}, 'Governor'), this.governance, this.pausing);
    this.governed = '';
    this.pausable = '';
    /** Rows that exist, by what they show, with their text. @type {Map<string, {row: HTMLTableRowElement, text: string}>} */
    this.known = new Map();
  }

  draw() {
    if (!this.page.model?.totals) return;
    this.drawTotals();
    this.drawClusters();
    this.drawEvictions();
    this.drawGovernor();
    this.tick(this.page.model.clock(Date.now()));
  }

  drawTotals() {
    const t = this.page.model?.totals;
    if (!t) return;
    const all = states.reduce((sum, [name]) => sum + t.workloads[name], 0);
    const bar = h('div', { class: 'stack', role: 'img', 'aria-label': states.map(([name, , words]) => `${t.workloads[name]} ${words}`).join(', ') }, states.map(([name, kind]) => {
      if (!t.workloads[name]) return null;
      const part = h('span', { class: `k-${kind}` });
      part.style.flexGrow = String(t.workloads[name]);
      return part;
    }));
    const blocked = Object.entries(t.blockedBy).sort(([, a], [, b]) => b - a).map(([reason, n]) => `${numberText(n)} ${reason}`).join(', ');
    fill(this.totals,
      figure('Clusters Ready', `${numberText(t.clusters.ready)} of ${numberText(t.clusters.all)}`, [t.clusters.tainted && `${numberText(t.clusters.tainted)} tainted`, t.clusters.draining && `${numberText(t.clusters.draining)} draining`].filter(Boolean).join(', '), t.clusters.ready < t.clusters.all),
      figure('Replicas available', `${numberText(t.replicas.available)} of ${numberText(t.replicas.placed)}`, t.replicas.unschedulable ? `${numberText(t.replicas.unschedulable)} unschedulable` : '', t.replicas.unschedulable > 0),
      figure('Evictions', numberText(t.evictions.scheduled + t.evictions.blocked + t.evictions.evicting), `${numberText(t.evictions.scheduled)} scheduled, ${numberText(t.evictions.blocked)} blocked, ${numberText(t.evictions.evicting)} evicting`, t.evictions.blocked > 0),
      h('div', { class: 'workloads' }, h('h2', {}, `Workloads ${numberText(all)}`), bar, h('p', { class: 'small legendline' }, states.filter(([name]) => t.workloads[name]).map(([name, kind, words]) => h('span', {}, h('span', { class: `swatch k-${kind}` }), `${numberText(t.workloads[name])} ${words}`))),
        h('p', { class: 'small soft blockedby' }, blocked ? `blocked by: ${blocked}` : '')));
  }

  drawClusters() {
    const { model } = this.page;
    if (!model) return;
    const rows = model.rows(this.page.words());
    this.keep(this.rows, rows.map(([name, c]) => {
      const moved = this.page.moves?.get(name);
      return { key: `c:${name}`, text: JSON.stringify([c, moved]), cells: () => this.clusterCells(name, c, moved) };
    }));
    const all = model.totals?.clusters.all ?? 0;
    this.count.textContent = rows.length < all ? `${numberText(rows.length)} of ${numberText(all)}` : numberText(all);
  }

  /** @param {string} name @param {BoardCluster} c @param {{from: number, to: number} | undefined} moved */
  clusterCells(name, c, moved) {
    const more = (c.taintCount ?? 0) - (c.taints?.length ?? 0);
    const now = [c.evictions.blocked && `${numberText(c.evictions.blocked)} blocked`, c.evictions.evicting && `${numberText(c.evictions.evicting)} evicting`, c.evictions.scheduled && `${numberText(c.evictions.scheduled)} scheduled`].filter(Boolean);
    return [h('td', {}, this.opener(`c:${name}`, name)), h('td', { class: 'soft' }, c.region ?? ''),
      h('td', {}, h('b', { class: c.ready === 'True' ? 'passed' : 'failed' }, c.ready === 'True' ? 'Ready' : c.ready === 'False' ? '✗ not Ready' : '? Unknown'), c.reason ? h('div', { class: 'small soft' }, c.reason) : null,
        c.drain ? h('div', { class: 'small warn' }, `draining: ${numberText(c.drain.left)} of ${numberText(c.drain.bindings)} remain${c.drain.missed ? ', deadline missed' : ''}`) : null,
        c.held ? h('div', { class: 'small warn' }, `on hold: ${c.held}`) : null, c.stay ? h('div', { class: 'small warn' }, `workloads remain: ${c.stay}`) : null),
      h('td', {}, (c.taints ?? []).map((t) => h('div', { class: 'taint' }, t)), more > 0 ? h('div', { class: 'small soft' }, `${more} more`) : null),
      h('td', { class: 'number' }, meter(c.available, c.replicas), `${numberText(c.available)} / ${numberText(c.replicas)}`),
      h('td', { class: 'number' }, c.cpuCapacity ? [meter(c.cpu ?? 0, c.cpuCapacity), `${Math.round((100 * (c.cpu ?? 0)) / c.cpuCapacity)} %`] : '–'),
      h('td', {}, now.map((n) => h('div', {}, n)), moved ? h('div', { class: 'previewed' }, [moved.from && `− ${numberText(moved.from)} would be evicted`, moved.to && `+ ${numberText(moved.to)} would come`].filter(Boolean).map((l) => h('div', {}, l))) : null)];
  }

  drawEvictions() {
    const { model, preview } = this.page;
    if (!model) return;
    const rows = model.due(this.page.words()).map(([key, e]) => ({ key: `e:${key}`, text: JSON.stringify(e), cells: () => this.evictionCells(e, false) }));
    const previewed = (preview?.status.evictions ?? []).slice(0, mostPreviewed).map((e, i) => {
      const row = { namespace: e.namespace, name: e.name, cluster: e.fromCluster, state: 'Preview', deadline: e.at, message: e.message, to: placementText(e.toClusters) };
      return { key: `p:${i}`, text: JSON.stringify(row), cells: () => this.evictionCells(row, true), class: 'previewed' };
    });
    this.keep(this.list, [...previewed, ...rows]);
    const t = model.totals?.evictions;
    const all = t ? t.scheduled + t.blocked + t.evicting : 0;
    this.due.textContent = all === 0 ? 'none' : rows.length < all ? `the next ${numberText(rows.length)} of ${numberText(all)}` : numberText(all);
  }

  /** @param {BoardEviction} e @param {boolean} previewed */
  evictionCells(e, previewed) {
    const name = e.namespace ? `${e.namespace}/${e.name}` : e.name;
    const kind = { Blocked: 'blocked', Scheduled: 'countdown', Evicting: 'evicting' }[e.state] ?? 'neutral';
    return [h('td', { class: 'count', 'data-deadline': e.deadline ?? '' }), h('td', {}, this.opener(`b:${name}`, name)), h('td', {}, this.opener(`c:${e.cluster}`, e.cluster)),
      h('td', {}, previewed ? [h('b', {}, 'would be evicted'), e.to ? h('div', { class: 'small' }, `to ${e.to}`) : h('div', { class: 'small failed' }, 'no other cluster would take it')] : [h('span', { class: `swatch k-${kind}` }), ` ${e.state === 'Scheduled' ? 'scheduled' : e.state.toLowerCase()}`,
        e.until ? h('div', { class: 'small soft', 'data-until': e.until }) : null]),
      h('td', {}, e.taint ? h('div', { class: 'taint' }, e.taint) : null, h('div', { class: 'small soft' }, [e.policy && `policy ${e.policy}`, e.reason, e.message].filter(Boolean).join('; ')))];
  }

  /** A name that selects what it names. @param {string} what @param {string} name */
  opener(what, name) { return h('button', { type: 'button', class: 'link', 'data-select': what, onclick: () => this.page.select(what) }, name); }

  /**
   * Has a table show rows: those that are as they were stay, with the focus that they may have.
   * @param {HTMLTableSectionElement} table
   * @param {{key: string, text: string, class?: string, cells: () => HTMLElement[]}[]} rows
   */
  keep(table, rows) {
    /** @type {HTMLTableRowElement[]} */
    const order = [];
    const keys = new Set();
    for (const r of rows) {
      let has = this.known.get(r.key);
      if (!has) this.known.set(r.key, has = { row: h('tr', { class: r.class ?? '' }), text: '' });
      if (has.text !== r.text) {
        const focused = has.row.contains(document.activeElement) ? document.activeElement?.getAttribute('data-select') : null;
        fill(has.row, r.cells());
        has.text = r.text;
        if (focused) [...has.row.querySelectorAll('button')].find((b) => b.getAttribute('data-select') === focused)?.focus();
      }
      has.row.classList.toggle('selected', r.key === this.page.selected);
      order.push(has.row);
      keys.add(r.key);
    }
    const prefixes = table === this.rows ? ['c:'] : ['e:', 'p:'];
    for (const [key, { row }] of this.known) {
      if (prefixes.some((p) => key.startsWith(p)) && !keys.has(key)) {
        row.remove();
        this.known.delete(key);
      }
    }
    order.forEach((row, i) => { if (table.children[i] !== row) table.insertBefore(row, table.children[i] ?? null); });
  }

  drawGovernor() {
    const g = this.page.model?.governor;
    const queue = this.page.model?.totals?.evictions.blocked ?? 0;
    if (!g) return;
    const parts = [
      g.pause ? h('p', { class: 'failed' }, h('b', {}, 'All evictions are paused'), `: ${g.pause.reason}${g.pause.until ? ` (until ${timeOfDay(Date.parse(g.pause.until))})` : ''}`) : null,
      h('dl', {}, h('dt', {}, 'fleet'), h('dd', {}, governanceText(g)), (g.regions ?? []).map((r) => [h('dt', {}, r.name || 'no region'), h('dd', {}, governanceText(r))]), (g.priorities ?? []).map((p) => [h('dt', {}, `priority ${p.name}`), h('dd', {}, governanceText(p))]),
        h('dt', {}, 'queue'), h('dd', {}, `${numberText(queue)} evictions wait`), g.releases ? [h('dt', {}, 'releases'), h('dd', {}, numberText(g.releases))] : null, g.quarantined ? [h('dt', {}, 'quarantine'), h('dd', { class: 'failed' }, `nothing is decided for ${numberText(g.quarantined)} objects`)] : null),
      (g.holds ?? []).map((x) => h('p', { class: 'small warn' }, `hold ${x.binding || x.cluster || 'of the fleet'}: ${x.reason}`)), (g.holdCount ?? 0) > (g.holds?.length ?? 0) ? h('p', { class: 'small soft' }, `${numberText((g.holdCount ?? 0) - (g.holds?.length ?? 0))} more holds`) : null];
    const text = JSON.stringify([g, queue]);
    if (text !== this.governed) fill(this.governance, parts);
    this.governed = text;
    const pausable = JSON.stringify([g.pause, this.page.may]);
    if (pausable !== this.pausable) fill(this.pausing, this.page.forms('g:')); // else a form stays as it is, with what is written in it
    this.pausable = pausable;
  }

  /** Counts down. @param {number} now the clock of the daemon */
  tick(now) {
    for (const cell of this.list.querySelectorAll('[data-deadline]')) write(cell, until(cell.getAttribute('data-deadline') ?? '', now));
    for (const cell of this.list.querySelectorAll('[data-until]')) write(cell, `tried again ${until(cell.getAttribute('data-until') ?? '', now)}`);
  }
}

/** @param {Element} cell @param {string} text */
function write(cell, text) { if (cell.textContent !== text) cell.textContent = text; }

/** @param {string} name @param {string} value @param {string} note @param {boolean} bad */
function figure(name, value, note, bad) { return h('div', { class: 'total' }, h('h2', {}, name), h('p', { class: `big${bad ? ' failed' : ''}` }, value), h('p', { class: 'small soft' }, note)); }

/** A small bar: a part of the whole. @param {number} part @param {number} whole */
function meter(part, whole) {
  const inner = h('span', { class: 'k-healthy' });
  inner.style.width = `${whole > 0 ? Math.min(100, (100 * part) / whole) : 0}%`;
  return h('span', { class: 'meter' }, inner);
}

/** @param {BoardGovernance} g */
function governanceText(g) {
  const breaker = g.breaker && g.breaker.state !== 'Closed' ? `breaker ${g.breaker.state === 'HalfOpen' ? 'half open' : g.breaker.state.toLowerCase()}${g.breaker.message ? `: ${g.breaker.message}` : ''}` : '';
  const rate = g.rate === undefined ? '' : g.rate === 0 ? 'no evictions' : `${g.rate} evictions a second`;
  return [g.state || 'Normal', rate, g.message, breaker].filter(Boolean).join('; ');
}
