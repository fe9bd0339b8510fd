// The reason panel: what is selected, in the words of leeward explain, and the buttons that a user's rights allow.
import { h, fill, button } from './dom.js';
import { ApiError } from './liveapi.js';

/** @typedef {import('./live.js').LeewardLive} ReasonPage */

export class LiveReason {
  /** @param {ReasonPage} page */
  constructor(page) {
    this.page = page;
    this.head = h('div', {});
    this.body = h('div', { class: 'explained', 'aria-live': 'polite' });
    this.element = h('section', { class: 'reasons' }, h('h2', {}, 'Reason'), h('div', { class: 'reason', tabindex: 0, role: 'region', 'aria-label': 'Reason' }, this.head, this.body));
    this.shown = '-';
    this.asked = 0;
  }

  /** Writes what is selected and its buttons, where they are others than before. @param {boolean} [anyway] */
  draw(anyway = false) {
    const { selected, model } = this.page;
    const what = selected ?? '';
    const cluster = what.startsWith('c:') ? model?.clusters.get(what.slice(2)) : undefined;
    const text = JSON.stringify([what, cluster?.taints, cluster?.drain !== undefined, cluster?.held]);
    if (text === this.shown && !anyway) return;
    this.shown = text;
    if (!what) {
      const named = h('input', { type: 'text', 'aria-label': 'Workload to explain', placeholder: 'namespace/name', spellcheck: 'false', autocomplete: 'off' });
      fill(this.head, h('p', { class: 'soft' }, 'Select a cluster or a workload, or name one: its conditions, taints, policies, tolerations, deadlines and placements are told here.'),
        h('form', { class: 'edit', onsubmit: (/** @type {Event} */ e) => {
          e.preventDefault();
          const name = named.value.trim();
          if (name) this.page.select(this.page.model?.clusters.has(name) ? `c:${name}` : `b:${name}`);
        } }, named, h('button', {}, 'Explain')));
      fill(this.body);
      return;
    }
    fill(this.head, h('h3', {}, what.slice(2)), this.page.forms(what), h('p', { class: 'actions' }, button('Explain again', 'Explain again', () => void this.load()), this.pinButton(what)));
  }

  /** @param {string} what */
  pinButton(what) {
    const { page } = this;
    const pinned = page.pins.includes(what);
    return button(pinned ? 'Unpin its lane' : 'Pin its lane, and follow it', pinned ? 'Unpin' : 'Pin', () => page.pin(what));
  }

  /** Asks the daemon to explain what is selected. An answer that comes after another selection is not shown. */
  async load() {
    const { api, selected } = this.page;
    const turn = ++this.asked;
    this.draw();
    if (!api || !selected) return;
    fill(this.body, h('p', { class: 'soft' }, 'explaining …'));
    const name = selected.slice(2);
    let content;
    try {
      const { lines, alone } = await api.explain(selected.startsWith('b:') ? 'binding' : 'cluster', name);
      content = [alone ? h('p', { class: 'small soft' }, alone) : null, h('div', { class: 'lines' }, lines.slice(1).map((l) => h('div', { class: /\S {2,}\S/.test(l) ? 'table' : '' }, l || ' ')))];
    } catch (error) {
      content = h('p', { class: 'failed' }, error instanceof ApiError ? error.message : 'the daemon does not answer');
    }
    if (turn === this.asked) fill(this.body, content);
  }
}
