// An assessment: a heat map of contingencies by groups of workloads, what to change, and of each contingency what it would do and why.
import { h, fill, button } from './dom.js';
import { numberText } from './scale.js';
import { availableAgain, changes, countText, heatOf, shareText, worstGroups } from './figures.js';
import { again, choice, holdsWords, part, reportView, searchField, tiles } from './reports.js';

/** @typedef {import('./figures.js').Contingency} Outage */
/**
 * @typedef {object} AssessmentData
 * @property {string} command @property {string} losing @property {string[]} lanes
 * @property {{profile: string, seed: number, outage: string, by: string, fleet: Record<'clusters' | 'regions' | 'workloads' | 'replicas' | 'groups' | 'unschedulable' | 'moving', number>,
 *   contingencies: Outage[] | null, advice: {change: string, where?: string[], evidence?: string[], workloads?: string[]}[] | null}} assessment
 */

const firstAssessment = { of: '', group: '', q: '', kind: '' };
/** Most rows and columns of the map: more cannot be read; a search finds the others. */
const mostRows = 60;
const mostGroups = 30;
/** Most workloads of a contingency that are named. */
const mostTroubles = 200;

const heats = /** @type {[string, string][]} */ ([['lost', 'replicas unavailable at the end'], ['sinks', 'below 50 % for a while'], ['dips', 'below 90 % for a while'], ['slight', 'below 100 % for a while'], ['kept', 'always available']]);

/** @param {AssessmentData} data */
export function assessmentReport(data) {
  const a = data.assessment;
  const all = a.contingencies ?? [];
  const rows = all.filter((o) => changes(o) && !o.sameAs);
  const groups = worstGroups(rows);
  document.title = 'Leeward assessment';
  const map = h('div', { class: 'heatmap' });
  const detail = h('section', { class: 'part chosen', 'aria-live': 'polite', tabindex: -1, 'aria-label': 'The contingency that is selected' });
  const write = () => {
    heatMap(map, rows, groups, a.by, view, choose);
    fill(detail, chosen(data, rows, view));
  };
  const { view, set } = reportView(firstAssessment, () => write());
  const choose = (/** @type {string} */ of, /** @type {string} */ group) => set({ of, group });
  write();
  const kinds = [...new Set(rows.map(kindWords))];
  const f = a.fleet;
  const quiet = all.filter((o) => !changes(o)).length;
  return h('main', { class: 'report' },
    h('h1', {}, 'What each outage would do'),
    h('p', { class: 'soft' }, `${countText(f.workloads, 'workload')} of ${countText(f.replicas, 'replica')} on ${countText(f.clusters, 'cluster')} in ${countText(f.regions, 'region')}. All of this is a prediction, made on a virtual clock with the fleet's own policies and settings: nothing has happened, and nothing was written.`),
    f.moving ? h('p', { class: 'warn' }, `${countText(f.moving, 'workload is', 'workloads are')} evicted before anything fails: the figures depend on the moment of the failure.`) : null,
    f.unschedulable ? h('p', { class: 'warn' }, `${countText(f.unschedulable, 'workload has', 'workloads have')} unschedulable replicas before anything fails.`) : null,
    assessmentTiles(data, rows),
    h('div', { class: 'beside' }, part('Contingencies by ' + a.by, `A row for each contingency, the worst first; a column for each ${a.by}. The figure is the lowest share of its replicas that is available on the way. Select a cell to see why.`,
      h('div', { class: 'filters' }, searchField('Search contingencies', view.q, (q) => set({ q })), kinds.length > 1 ? choice('Kind of contingency', view.kind, [['', 'All kinds'], .../** @type {[string, string][]} */ (kinds.map((k) => [k, k]))], (kind) => set({ kind })) : null), map,
      h('div', { class: 'legend' }, heats.map(([kind, words]) => h('span', {}, h('i', { class: `swatch heat ${kind}` }), words)), h('span', {}, 'empty: no copies there')),
      quiet ? h('p', { class: 'soft small' }, `${countText(quiet, 'contingency', 'contingencies')} would change nothing.`) : null), detail),
    part('What to change', '', (a.advice ?? []).map((d) => h('details', { open: true }, h('summary', {}, h('b', {}, d.change), d.where?.length ? h('span', { class: 'soft' }, ` (${d.where.join('; ')})`) : null),
      h('ul', {}, (d.evidence ?? []).map((e) => h('li', {}, `predicted: ${e}`))), d.workloads?.length ? h('p', { class: 'soft small' }, `${numberText(d.workloads.length)} affected: ${d.workloads.slice(0, 20).join(', ')}${d.workloads.length > 20 ? ' …' : ''}`) : null)),
    a.advice?.length ? null : h('p', {}, 'Nothing: all workloads would be available again after each contingency.')),
    again(data.command, `profile ${a.profile} · seed ${a.seed} · outage ${a.outage}`));
}

/** @param {Outage} o */
function kindWords(o) { return o.of.length > 1 ? `two: ${o.kind}` : o.kind; }

/** @param {AssessmentData} data @param {Outage[]} rows */
function assessmentTiles(data, rows) {
  const all = data.assessment.contingencies ?? [];
  const hurt = all.filter((o) => o.unavailable.workloads + o.unschedulable.workloads > 0).length;
  const lowest = rows.reduce((/** @type {Outage | null} */ least, o) => (least && least.lowestAvailability <= o.lowestAvailability ? least : o), null);
  return tiles([
    ['contingencies', numberText(all.length), `${numberText(all.filter(changes).length)} would change something`],
    ['would leave workloads impaired', numberText(hurt), 'unavailable or unschedulable at the end'],
    ['lowest availability', shareText(lowest?.lowestAvailability ?? 1), lowest && lowest.lowestAvailability < 1 ? `losing ${lowest.name}` : 'nothing is lost'],
    ['things to change', numberText(data.assessment.advice?.length ?? 0), 'see below'],
  ]);
}

/** @param {HTMLElement} map @param {Outage[]} rows @param {string[]} groups @param {string} by @param {import('./reports.js').ReportView} view @param {(of: string, group: string) => void} choose */
function heatMap(map, rows, groups, by, view, choose) {
  const found = rows.filter((o) => (!view.kind || kindWords(o) === view.kind) && holdsWords(view.q, `${o.name} ${o.clusters.join(' ')}`));
  const shown = found.slice(0, mostRows);
  const columns = groups.slice(0, mostGroups);
  const focused = map.contains(document.activeElement);
  const at = (/** @type {Outage} */ o, /** @type {string} */ g) => o.name === view.of && g === view.group;
  const known = shown.some((o) => columns.some((g) => at(o, g)) || at(o, ''));
  /** @param {string} name @param {string} of @param {string} group @param {boolean} first @param {import('./dom.js').DomChild} face @param {string} kind */
  const cell = (name, of, group, first, face, kind) => {
    const is = of === view.of && group === view.group;
    return h('button', { type: 'button', class: `cell ${kind}${is ? ' selected' : ''}`, tabindex: (known ? is : first) ? 0 : -1, 'aria-label': name, title: name, 'aria-pressed': String(is), onclick: () => choose(of, group) }, face);
  };
  fill(map, shown.length ? h('div', { class: 'wide', role: 'region', 'aria-label': 'Heat map' }, h('table', { class: 'heat', onkeydown: moveInMap },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'If lost'), columns.map((g) => h('th', { scope: 'col', class: 'turned', title: g }, h('span', {}, g || 'none'))))),
    h('tbody', {}, shown.map((o, i) => h('tr', {}, h('th', { scope: 'row' }, cell(`losing ${o.name}: all of it`, o.name, '', i === 0, o.name, 'rowname')), columns.map((g) => {
      const s = (o.groups ?? []).find((x) => x.group === g);
      if (!s) return h('td', {});
      const kind = heatOf(s);
      const end = s.unavailable ? `${countText(s.unavailable, 'workload')} unavailable in the end` : 'all available again in the end';
      return h('td', {}, cell(`predicted: losing ${o.name}, ${g || 'none'}: ${countText(s.workloads, 'workload')} hit, lowest availability ${shareText(s.lowestAvailability)}, ${end}`, o.name, g, false, [kind === 'lost' ? '✗ ' : '', shareText(s.lowestAvailability)], kind));
    })))))) : h('p', { class: 'soft' }, rows.length ? 'No contingency passes the filter.' : 'No contingency would change anything.'),
  h('p', { class: 'soft small' }, [found.length > mostRows ? `${numberText(found.length - mostRows)} contingencies that would hurt less have no row here: search for them. ` : '', groups.length > mostGroups ? `${numberText(groups.length - mostGroups)} columns (${by}) are omitted.` : '']));
  if (focused) /** @type {HTMLElement | null} */ (map.querySelector('[tabindex="0"]'))?.focus();
}

/** The arrow keys go from cell to cell. @param {KeyboardEvent} e */
function moveInMap(e) {
  const cell = e.target instanceof Element ? e.target.closest('td, th') : null;
  const row = cell?.parentElement;
  const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
  if (!cell || !row || !way || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  const rows = [...(row.parentElement?.children ?? [])];
  let [y, x] = [rows.indexOf(row) + way[0], [...row.children].indexOf(cell) + way[1]];
  for (; rows[y]?.children[x]; [y, x] = [y + way[0], x + way[1]]) { // past empty cells
    const next = rows[y].children[x].querySelector('button');
    if (!next) continue;
    next.focus();
    next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    return;
  }
}

/** What is selected: what the contingency would do, to which workloads, and why. @param {AssessmentData} data @param {Outage[]} rows @param {import('./reports.js').ReportView} view */
function chosen(data, rows, view) {
  const o = rows.find((r) => r.name === view.of) ?? rows[0];
  if (!o) return [h('h2', {}, 'Nothing would be lost')];
  const by = data.assessment.by;
  const lane = data.lanes.indexOf(o.name);
  const of = (/** @type {string} */ workload) => !view.group || by !== 'namespace' || workload.startsWith(`${view.group}/`);
  const troubles = (o.troubles ?? []).filter((t) => of(t.workload));
  const group = (o.groups ?? []).find((g) => g.group === view.group);
  const amount = (/** @type {import('./figures.js').Amount} */ n) => (n.workloads ? `${numberText(n.workloads)} (${countText(n.replicas, 'replica')})` : 'none');
  return [
    h('h2', {}, `Losing ${o.name}`, h('span', { class: 'soft' }, ' predicted')),
    h('p', { class: 'actions' }, lane >= 0 ? h('a', { class: 'link', href: `#run=${lane}` }, 'Lanes of this outage: what happens when, and why') : null),
    h('dl', {}, [['fails', o.clusters.length > 12 ? `${o.clusters.slice(0, 12).join(', ')} and ${numberText(o.clusters.length - 12)} more` : o.clusters.join(', ')], ['workloads there', amount(o.lost)], ['evicted', amount(o.evicted)], ['rescheduled', amount(o.rescheduled)], ['unschedulable', amount(o.unschedulable)], ['unavailable at the end', amount(o.unavailable)],
      ['down for a while', o.down ? numberText(o.down) : 'none'], ['lowest availability', shareText(o.lowestAvailability)], ['available again', availableAgain(o)]].map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
    (o.overflows ?? []).map((x) => h('p', { class: 'warn' }, `Cluster ${x.cluster} overflows: ${x.requested} of ${x.allocatable} ${x.resource} requested.`)),
    (o.breakers ?? []).map((b) => h('p', { class: 'warn' }, `Evictions slow down or stop: ${b}`)),
    group ? h('p', {}, h('b', {}, `${by} ${group.group || 'none'}`), `: ${countText(group.workloads, 'workload')} hit, ${numberText(group.unavailable)} unavailable at the end, lowest availability ${shareText(group.lowestAvailability)}`) : null,
    troubles.length ? [h('h3', {}, 'Workloads that would be impaired'), troubles.slice(0, mostTroubles).map((t) => h('div', { class: 'fact' }, h('p', {}, h('b', {}, t.workload), ` ${t.missing ? countText(t.missing, 'replica') : 'all of it'} ${t.kind}`), h('p', { class: 'soft' }, t.reason))),
      h('p', { class: 'soft small' }, troubles.length > mostTroubles || o.unnamed ? `${numberText(Math.max(0, troubles.length - mostTroubles) + (o.unnamed ?? 0))} more` : '')] : h('p', { class: 'soft' }, view.group && o.troubles?.length ? `None of the workloads that would be impaired is in ${view.group}.` : 'All workloads would be available again.'),
    h('div', { class: 'explain' }, h('p', { class: 'soft' }, lane >= 0 ? 'Play it again, or change it:' : 'What would be evicted when, and where to:'), h('code', { tabindex: 0 }, `${data.losing} ${o.kind === 'cluster' ? '' : `${o.kind}=`}${o.of.join(',')}`)),
    view.of ? button('Select nothing', 'Show the worst', () => { location.hash = ''; }) : null,
  ];
}
