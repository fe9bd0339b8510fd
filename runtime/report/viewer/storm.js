// A storm: is anything lost, throughput over time, waiting times, what it costs, the load of each cluster, and how that compares.
import { h, fill } from './dom.js';
import { numberText } from './scale.js';
import { bytesText, columnAt, countText, latencyColumns, latencyScale, linearScale, loadColumns, mostColumns, rateColumns, secondsText, shortText, stormFigures, timeScale } from './figures.js';
import { dashNames, LeewardPlot } from './plot.js';
import { again, choice, grid, holdsWords, part, reportView, searchField, tiles } from './reports.js';

/** @typedef {import('./figures.js').StormData} Storm */
/** @typedef {import('./plot.js').PlotStrip} StormStrip */

const patterns = /** @type {Record<string, string>} */ ({ burst: ', all together', cascade: ', in waves', flapping: ', again and again' });
const stages = /** @type {const} */ ([['evicted', 'evicting'], ['placed', 'placed'], ['healthy', 'healthy'], ['released', 'mark'], ['backlog', 'neutral']]);
const kindOf = /** @type {Record<string, string>} */ (Object.fromEntries(stages));
const firstStorm = { time: 'wall', q: '', sort: 'after' };
/** Most clusters that the table names. */
const mostClusters = 100;

/** @param {{storms: Storm[]}} data */
export function stormReport(data) {
  const [r, ...others] = data.storms;
  const nodes = Boolean(r.fleet.nodes);
  document.title = 'Leeward storm';
  const { view, set } = reportView(firstStorm, () => write());
  const waits = h('div');
  const clusters = h('div');
  const write = () => {
    fill(waits, waiting(r, others, view.time === 'fleet'));
    fill(clusters, clusterTable(r, others, view.q, view.sort));
  };
  write();
  const passed = (r.checks ?? []).every((c) => c.passed);
  const f = r.fleet;
  const fleet = nodes ? `${countText(f.deployments ?? 0, 'Deployment')} of ${countText(f.pods ?? 0, 'pod')} on ${countText(f.nodes ?? 0, 'node')} in ${countText(f.zones ?? 0, 'zone')}` :
    `${countText(f.bindings ?? 0, 'workload')} of ${countText(f.replicas ?? 0, 'replica')} on ${countText(f.clusters ?? 0, 'cluster')} in ${countText(f.regions ?? 0, 'region')}`;
  return h('main', { class: 'report' },
    h('h1', {}, `${numberText(r.outage.failed)} of ${nodes ? countText(f.nodes ?? 0, 'node') : countText(f.clusters ?? 0, 'cluster')} fail${patterns[r.outage.pattern] ?? ''} `,
      r.interrupted ? h('span', { class: 'verdict failed' }, 'interrupted') : h('span', { class: `verdict ${passed ? 'passed' : 'failed'}` }, passed ? '✓ passed' : '✗ failed')),
    h('p', { class: 'soft' }, `${fleet}, ${f.files?.length ? `read from ${f.files.join(', ')}` : 'generated'}. The storm took ${secondsText(r.elapsedSeconds)} on the wall${r.fleetSeconds ? ` and ${secondsText(r.fleetSeconds)} of the fleet's time` : ''}.`),
    r.interrupted ? h('p', { class: 'failed' }, 'The storm was interrupted: the figures are of what was done until then.') : null,
    r.measured ? h('p', { class: 'soft' }, `Measured, not run here: ${r.measured.system}: the first eviction after ${secondsText(r.measured.firstSeconds)}, the last after ${secondsText(r.measured.lastSeconds)}, ${shortText(r.measured.perSecond)} a second.`) : null,
    stormTiles(r, nodes),
    part('Is anything lost?', `${countText(r.rates.withdrawn, 'eviction')} cancelled, ${numberText(r.rates.held)} blocked for a while.`,
      h('ul', { class: 'checks' }, (r.checks ?? []).map((c) => h('li', {}, h('b', { class: c.passed ? 'passed' : 'failed' }, c.passed ? '✓ ' : '✗ '), c.name, c.detail ? h('span', { class: 'soft' }, `: ${c.detail}`) : null)), r.checks?.length ? null : h('li', {}, 'nothing was checked'))),
    part('Throughput over time', `Since the first failure, by the clock on the wall. The rates share one scale.${lines(others)}`, throughput(r, others)),
    part('Waiting times', `From the instant at which a workload was due to be evicted until it was evicted, placed, healthy and released; the scale is logarithmic.${lines(others)}`,
      (r.fleetLatencies ?? []).some((l) => l.maxSeconds > 0) ? choice('Clock', view.time, [['wall', 'By the clock on the wall'], ['fleet', "By the fleet's time"]], (time) => set({ time })) : null, waits),
    others.length ? part('Comparison', `This storm: profile ${settings(r)}. ${others.map((o, i) => `${named(others, i)}: ${o.command}, profile ${settings(o)}.`).join(' ')} In brackets: this storm's figure by the other's.`, comparison(r, others)) : null,
    h('div', { class: 'pair' }, part('Parts of a failover', 'Of the time that a failover takes on average, from the stage before.', bars((r.latencies ?? []).map((l) => [`until ${l.stage}`, l.share, `on average ${l.stage} after ${secondsText(l.meanSeconds)}`, kindOf[l.stage]]))),
      part('Time of the lanes', 'By the kind of machine.', bars((r.machines ?? []).map((m) => [m.kind, m.share, `${secondsText(m.seconds)} for ${countText(m.messages, 'message')}`, 'placed'])))),
    part(nodes ? 'Load of each zone' : 'Load of each cluster', balance(r, nodes), loadPlot(r),
      h('div', { class: 'filters' }, searchField(nodes ? 'Search zones' : 'Search clusters', view.q, (q) => set({ q })), choice('Order', view.sort, [['after', 'Fullest first'], ['gain', 'Largest increase first'], ['name', 'By name']], (sort) => set({ sort }))), clusters),
    again(r.command, `profile ${settings(r)} · ${countText(r.lanes, 'lane')} · ${r.outage.kill} of the ${nodes ? 'nodes' : 'clusters'} fail · the fleet took ${secondsText(r.setupSeconds)} to build and place`));
}

/** @param {Storm} r */
function settings(r) { return `${r.profile}${r.set?.length ? ` with ${r.set.join(', ')}` : ''}, seed ${r.seed}`; }

/** @param {Storm} r @param {boolean} nodes */
function stormTiles(r, nodes) {
  const rate = (/** @type {import('./figures.js').StormRate} */ of) => [shortText(of.perSecond), `${numberText(of.count)} in all, ${shortText(of.peakPerSecond)} at the peak`];
  const c = r.costs;
  return tiles(/** @type {[string, string, string?][]} */ ([
    ['handovers completed a second', ...rate(nodes ? r.rates.healthy : r.rates.released)], // the kubelet that would end the old pod is down
    ['evictions a second', ...rate(r.rates.evicted)],
    ...(r.latencies ?? []).map((l) => [`until ${l.stage}, 99 %`, secondsText(l.p99Seconds), `half within ${secondsText(l.p50Seconds)}`]),
    ['CPU a failover', secondsText(c.cpuSecondsPerFailover), `${secondsText(c.cpuSeconds)} in all; ${(100 * c.gcShare).toFixed(1)} % of it collects garbage`],
    ['allocated a failover', bytesText(c.allocatedBytesPerFailover), `${shortText(c.allocatedObjectsPerFailover)} objects, ${shortText(c.messagesPerFailover)} messages`],
    [`memory a ${nodes ? 'pod' : 'workload'}`, bytesText(c.bytesPerBinding), `${bytesText(c.peakMemoryBytes)} at the peak, in all`],
  ]));
}

/** @param {string} name @param {import('./figures.js').Scale} scale @param {(v: number) => string} words @param {StormStrip[]} strips */
function plotted(name, scale, words, strips) {
  if (!customElements.get('leeward-plot')) customElements.define('leeward-plot', LeewardPlot);
  const plot = /** @type {LeewardPlot} */ (document.createElement('leeward-plot'));
  plot.show(name, scale, words, strips);
  return plot;
}

/** What another storm is called. @param {Storm[]} others @param {number} i */
function named(others, i) { return others.length > 1 ? `other ${i + 1}` : 'other'; }

/** What the lines of charts are. @param {Storm[]} others */
function lines(others) { return others.length ? ` Lines, and figures in brackets: ${others.map((o, i) => `${named(others, i)} (profile ${o.profile}, ${dashNames[i]})`).join(', ')}.` : ''; }

/** @param {Storm} r @param {Storm[]} others */
function throughput(r, others) {
  const strips = stages.map(([name, kind]) => ({ name: name === 'backlog' ? 'in progress' : name, kind, columns: rateColumns(r.series, name), others: others.map((o) => rateColumns(o.series, name)), level: name === 'backlog' }));
  const highest = (/** @type {typeof strips} */ of) => linearScale(Math.max(0, ...of.flatMap((s) => [...s.columns, ...s.others.flat()].map((c) => c.value)))).top;
  const [rates, levels] = [highest(strips.filter((s) => !s.level)), highest(strips.filter((s) => s.level))];
  const ends = Math.max(...strips.flatMap((s) => [...s.columns, ...s.others.flat()].map((c) => c.to)), 0);
  return plotted('Throughput over time', timeScale(ends), secondsText, strips.map((s) => ({ ...s, top: s.level ? levels : rates, text: (v) => (s.level ? shortText(v) : `${shortText(v)}/s`) })));
}

/** @param {Storm} r @param {Storm[]} others @param {boolean} fleet */
function waiting(r, others, fleet) {
  const of = (/** @type {Storm} */ s) => (fleet ? s.fleetLatencies : s.latencies) ?? [];
  const all = of(r);
  const theirs = others.map(of);
  const names = [...new Set([...all, ...theirs.flat()].map((l) => l.stage))];
  const find = (/** @type {import('./figures.js').Latency[]} */ list, /** @type {string} */ stage) => list.find((l) => l.stage === stage);
  const strips = names.map((stage) => {
    const columns = latencyColumns(find(all, stage));
    const compared = theirs.map((t) => latencyColumns(find(t, stage)));
    const l = find(all, stage);
    /** @type {[number, string][]} */
    const marks = [];
    for (const [share, value] of /** @type {[string, number][]} */ (l ? [['50 %', l.p50Seconds], ['90 %', l.p90Seconds], ['99 %', l.p99Seconds]] : [])) {
      if (marks.length && marks[marks.length - 1][0] === value) marks.pop();
      marks.push([value, `${share} ${secondsText(value)}`]);
    }
    return { name: stage, kind: kindOf[stage] ?? 'neutral', columns, others: compared, marks, top: Math.max(1e-9, ...[...columns, ...compared.flat()].map((c) => c.value)), text: (/** @type {number} */ v) => `${(100 * v).toFixed(1)} %` };
  });
  const times = /** @type {const} */ (['minSeconds', 'meanSeconds', 'p50Seconds', 'p90Seconds', 'p99Seconds', 'p999Seconds', 'maxSeconds']);
  return [plotted('Waiting times', latencyScale([...all, ...theirs.flat()]), (v) => secondsText(Number(v.toPrecision(3))), strips),
    grid('Waiting times in figures', ['Until', '#Failovers', '#Least', '#Mean', '#50 %', '#90 %', '#99 %', '#99.9 %', '#Most'], all.map((l) => [l.stage, numberText(l.count), ...times.map((t) => [secondsText(l[t]), theirs.map((o) => h('div', { class: 'soft small' }, secondsText(find(o, l.stage)?.[t] ?? 0)))])]))];
}

/** @param {Storm} r @param {Storm[]} others */
function comparison(r, others) {
  const theirs = others.map((o) => new Map(stormFigures(o).map(([name, value, text]) => [name, { value, text }])));
  return grid('Comparison', ['Figure', '#This', ...others.map((_, i) => `#${named(others, i)}`)], stormFigures(r).map(([name, value, text]) => [name, text, ...theirs.map((t) => {
    const o = t.get(name);
    return o ? `${o.text}${o.value ? ` (${(value / o.value).toFixed(2)})` : ''}` : '–';
  })]));
}

/** Shares of a whole. @param {[string, number, string, string][]} list name, share, detail, kind */
function bars(list) {
  return list.map(([name, share, detail, kind]) => {
    const inner = h('span', { class: `k-${kind}` });
    inner.style.width = `${Math.min(100, 100 * share)}%`;
    return h('div', { class: 'share' }, h('span', {}, name), h('span', { class: 'number' }, `${(100 * share).toFixed(1)} %`), h('span', { class: 'meter' }, inner), h('span', { class: 'soft small' }, detail));
  });
}

/** @param {Storm} r @param {boolean} nodes */
function balance(r, nodes) {
  const what = nodes ? 'pods' : 'replicas';
  const sum = (/** @type {import('./figures.js').ClusterLoad[]} */ list, /** @type {'before' | 'after'} */ of) => numberText(list.reduce((n, c) => n + c[of], 0));
  const [failed, survive] = [(r.load ?? []).filter((c) => c.failed), (r.load ?? []).filter((c) => !c.failed)];
  const told = survive.length ? [`${numberText(survive.length)} survive: ${sum(survive, 'before')} ${what} before, ${sum(survive, 'after')} after, from ${numberText(Math.min(...survive.map((c) => c.after)))} to ${numberText(Math.max(...survive.map((c) => c.after)))} each.`] : [];
  if (failed.length) told.push(`${numberText(failed.length)} failed: ${sum(failed, 'before')} ${what} before, ${sum(failed, 'after')} after.`);
  return [...told, 'The line is what each ran before.'].join(' ');
}

/** @param {Storm} r */
function loadPlot(r) {
  const columns = loadColumns(r.load ?? [], mostColumns);
  if (!columns.length) return null;
  const top = linearScale(Math.max(...columns.flatMap((c) => [c.before, c.after]))).top;
  const words = (/** @type {number} */ v) => {
    const at = /** @type {typeof columns[0] | undefined} */ (columnAt(columns.map((c) => ({ ...c, value: c.after })), v));
    if (!at) return '';
    return at.clusters.length > 1 ? `${at.clusters[0].cluster} … ${at.clusters[at.clusters.length - 1].cluster}` : at.clusters[0].cluster;
  };
  const last = columns[columns.length - 1].to;
  return plotted('Load of what survives, the fullest first', { at: (v) => v / last, ticks: [] }, words, [{ name: 'after', kind: 'placed', columns: columns.map((c) => ({ from: c.from, to: c.to, value: c.after })), others: [columns.map((c) => ({ from: c.from, to: c.to, value: c.before }))], top, text: shortText }]);
}

/** @param {Storm} r @param {Storm[]} others @param {string} query @param {string} sort */
function clusterTable(r, others, query, sort) {
  const theirs = others.map((o) => new Map((o.load ?? []).map((c) => [c.cluster, c.after])));
  const found = (r.load ?? []).filter((c) => holdsWords(query, `${c.cluster} ${c.region ?? ''} ${c.failed ? 'failed' : ''}`));
  const by = /** @type {Record<string, (a: import('./figures.js').ClusterLoad, b: import('./figures.js').ClusterLoad) => number>} */ ({ after: (a, b) => b.after - a.after, gain: (a, b) => b.after - b.before - a.after + a.before, name: (a, b) => (a.cluster < b.cluster ? -1 : 1) });
  found.sort(by[sort] ?? by.after);
  return [grid('Load', [r.fleet.nodes ? 'Zone' : 'Cluster', 'Region', 'State', '#Before', '#After', '#Change', ...others.map((_, i) => `#After, ${named(others, i)}`)], found.slice(0, mostClusters).map((c) => [c.cluster, c.region ?? '', c.failed ? h('b', { class: 'failed' }, '✗ failed') : '', numberText(c.before), numberText(c.after), `${c.after > c.before ? '+' : c.after < c.before ? '−' : ''}${numberText(Math.abs(c.after - c.before))}`,
    ...theirs.map((t) => (t.has(c.cluster) ? numberText(t.get(c.cluster) ?? 0) : '–'))])),
  h('p', { class: 'soft small' }, found.length > mostClusters ? `${numberText(mostClusters)} of ${numberText(found.length)}: search to see others` : `${numberText(found.length)} of ${numberText(r.load?.length ?? 0)}`)];
}
