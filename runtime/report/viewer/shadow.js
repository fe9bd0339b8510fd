// What a daemon in shadow would have done otherwise: verdicts by workload, with both decisions and their reasons.
import { h, fill } from './dom.js';
import { numberText } from './scale.js';
import { countText, secondsText } from './figures.js';
import { choice, holdsWords, part, reportView, searchField, tiles } from './reports.js';

/** @typedef {{at: string, by: string, reason: string, clusters?: {name: string, replicas?: number}[]}} Decision */
/** @typedef {{time: string, verdict: string, kind: string, workload: string, pod?: string, node?: string, binding?: string, cluster?: string, ours?: Decision, theirs?: Decision, why?: string, lastCopy?: boolean, cancelled?: boolean}} Compared */
/** @typedef {{decisions: number, count: Record<string, number>, faster: number, safer: number, different: number, lastCopies: number, cancelled: number, latest: number}} Tally */
/** @typedef {{file: string, report: Tally & {from: string, to: string, workloads: (Tally & {workload: string, examples: Compared[] | null})[]}}} ShadowData */

const verdicts = /** @type {[string, string][]} */ ([['agreed', 'as Leeward did'], ['earlier', 'before Leeward'], ['later', 'after Leeward'], ['elsewhere', 'to other clusters'], ['never', 'not at all'], ['unasked', 'where Leeward did not']]);
const firstShadow = { q: '', verdict: '' };
const mostWorkloads = 300;

/** @param {ShadowData} data */
export function shadowReport(data) {
  const r = data.report;
  document.title = 'Leeward shadow';
  const list = h('div', { class: 'wide', role: 'region', 'aria-label': 'Workloads', tabindex: 0 });
  const note = h('p', { class: 'soft small', 'aria-live': 'polite' });
  const write = () => {
    const found = r.workloads.filter((w) => holdsWords(view.q, w.workload) && (!view.verdict || (w.count[view.verdict] ?? 0) > 0)).sort((a, b) => b.decisions - (b.count.agreed ?? 0) - a.decisions + (a.count.agreed ?? 0));
    fill(list, h('table', {}, h('thead', {}, h('tr', {}, ['Workload', ...verdicts.map(([v]) => v), 'latest'].map((t, i) => h('th', { scope: 'col', class: i ? 'number' : '' }, t)))), found.slice(0, mostWorkloads).map((w) => h('tbody', {},
      h('tr', {}, h('th', { scope: 'row' }, w.workload), verdicts.map(([v]) => h('td', { class: `number${w.count[v] && v !== 'agreed' ? ' failed' : ''}` }, w.count[v] ? numberText(w.count[v]) : '–')), h('td', { class: 'number' }, w.latest ? secondsText(w.latest / 1e9) : '–')),
      (w.examples ?? []).filter((e) => !view.verdict || e.verdict === view.verdict).map((e) => h('tr', {}, h('td', { colspan: verdicts.length + 2 }, example(e))))))));
    note.textContent = found.length > mostWorkloads ? `${numberText(mostWorkloads)} of ${numberText(found.length)} workloads: search to see others` : `${numberText(found.length)} of ${countText(r.workloads.length, 'workload')}`;
  };
  const { view, set } = reportView(firstShadow, () => write());
  write();
  return h('main', { class: 'report' },
    h('h1', {}, 'What Leeward would have decided otherwise'),
    h('p', { class: 'soft' }, r.decisions ? `${countText(r.decisions, 'decision')} on ${countText(r.workloads.length, 'workload')} from ${instant(r.from)} to ${instant(r.to)}, as ${data.file} has them: what the control plane that acts decided, compared with Leeward in shadow, which changed nothing.` : `${data.file} compares no decision.`),
    tiles([['agreed', numberText(r.count.agreed ?? 0), `of ${countText(r.decisions, 'decision')}`], ['would have been faster', numberText(r.faster), r.latest ? `by up to ${secondsText(r.latest / 1e9)}` : ''],
      ['would have been safer', numberText(r.safer), `last copies kept: ${numberText(r.lastCopies)}; evictions cancelled: ${numberText(r.cancelled)}`], ['different', numberText(r.different), 'otherwise']]),
    part('Workloads', `How the other control plane decided: ${verdicts.map(([v, words]) => `${v}: ${words}`).join('; ')}. Below each workload is an example of each kind and verdict that did not agree. Latest: how much later it decided at most.`,
      h('div', { class: 'filters' }, searchField('Search workloads', view.q, (q) => set({ q })), choice('Verdict', view.verdict, [['', 'All verdicts'], .../** @type {[string, string][]} */ (verdicts.map(([v]) => [v, v]))], (verdict) => set({ verdict }))), list, note));
}

/** @param {string} text */
function instant(text) { return text.replace('T', ' ').replace(/\.\d+/, ''); }

/** @param {Compared} e */
function example(e) {
  const of = [e.pod && `pod ${e.pod}${e.node ? ` on ${e.node}` : ''}`, e.cluster && `from ${e.cluster}`].filter(Boolean).join(', ');
  return h('div', { class: 'example' }, h('p', {}, h('b', {}, `${e.kind} ${e.verdict}`), of ? ` ${of}` : '', e.lastCopy ? h('span', { class: 'warn' }, ' the last healthy copy was removed') : null, e.cancelled ? h('span', { class: 'warn' }, ' Leeward had cancelled it') : null),
    h('dl', {}, h('dt', {}, 'Leeward'), h('dd', {}, decided(e.ours, e.why)), h('dt', {}, 'the other'), h('dd', {}, decided(e.theirs))));
}

/** @param {Decision | undefined} d @param {string} [why] */
function decided(d, why = '') {
  if (!d) return h('span', { class: 'soft' }, why || 'nothing');
  const on = (d.clusters ?? []).map((c) => (c.replicas ? `${c.name}:${c.replicas}` : c.name)).join(' ');
  return [h('span', { class: 'soft' }, `${instant(d.at)} ${d.by}`), on ? ` on ${on}` : '', `: ${d.reason}`];
}
