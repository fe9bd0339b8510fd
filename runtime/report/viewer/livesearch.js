// Search at the daemon: workloads in whatever state, as they were when the question was asked.
import { h, fill } from './dom.js';
import { numberText } from './scale.js';
import { timeOfDay } from './livemodel.js';
import { ApiError } from './liveapi.js';

/** @typedef {import('./live.js').LeewardLive} SearchPage */
/** @typedef {{namespace?: string, name: string, state: string, clusterCount: number, clusters?: {name: string, replicas: number, available: number}[]}} FoundWorkload */

/** How long typing must rest before the daemon is asked, and how long the page waits after it was refused. */
const typingRests = 250;
const refusedFor = 1500;

const foundStates = /** @type {Record<string, [string, string]>} */ ({ settled: ['healthy', 'settled'], unhealthy: ['unhealthy', 'not available'], scheduled: ['countdown', 'eviction scheduled'], evicting: ['evicting', 'evicting'], blocked: ['blocked', 'eviction blocked'], unschedulable: ['unschedulable', 'unschedulable'] });

export class LiveSearch {
  /** @param {SearchPage} page */
  constructor(page) {
    this.page = page;
    this.note = h('span', { class: 'soft small', role: 'status' });
    this.list = h('tbody');
    this.element = h('section', { class: 'found', hidden: true }, h('header', {}, h('h2', {}, 'Workloads found'), this.note), h('div', { class: 'wide', tabindex: 0, role: 'region', 'aria-label': 'Workloads found' },
      h('table', {}, h('thead', {}, h('tr', {}, ['Workload', 'State', 'Clusters: available of placed'].map((t) => h('th', { scope: 'col' }, t)))), this.list)));
    this.turn = 0;
  }

  /** The words have changed. @param {string} query */
  ask(query) {
    clearTimeout(this.later);
    this.turn++;
    this.element.hidden = !query.trim();
    if (!query.trim()) return;
    this.later = setTimeout(() => void this.find(query), typingRests);
  }

  /** @param {string} query */
  async find(query) {
    const { api, model } = this.page;
    const turn = this.turn;
    if (!api || !model) return;
    try {
      const found = await api.search(query);
      if (turn !== this.turn) return;
      const { all, workloads } = found;
      fill(this.note, `${workloads.length < all ? `${numberText(workloads.length)} of ${numberText(all)}, the worst first` : numberText(all)}, as of ${timeOfDay(model.clock(Date.now()))}`);
      fill(this.list, workloads.map((w) => this.row(w)));
    } catch (error) {
      if (turn !== this.turn) return;
      if (error instanceof ApiError && error.code === 429) this.later = setTimeout(() => void this.find(query), refusedFor);
      else fill(this.note, error instanceof ApiError ? error.message : 'the daemon does not answer');
    }
  }

  /** @param {FoundWorkload} w */
  row(w) {
    const name = w.namespace ? `${w.namespace}/${w.name}` : w.name;
    const [kind, state] = foundStates[w.state] ?? ['neutral', w.state];
    const more = w.clusterCount - (w.clusters?.length ?? 0);
    return h('tr', {}, h('td', {}, h('button', { type: 'button', class: 'link', 'data-select': `b:${name}`, onclick: () => this.page.select(`b:${name}`) }, name)), h('td', {}, h('span', { class: `swatch k-${kind}` }), ` ${state}`),
      h('td', {}, (w.clusters ?? []).map((c) => `${c.name} ${numberText(c.available)}/${numberText(c.replicas)}`).join(', ') + (more > 0 ? ` and ${numberText(more)} more` : '') || 'none'));
  }
}
