// Forms: what if, and the buttons of the command line. Each is previewed before it is done.
import { h, button } from './dom.js';
import { addTaint, appliedPreview, bindingPath, clusterPath, cordon, drainCluster, drained, endHold, endsAfter, holdEvictions, pauseAll, readTaint, releaseNow, removeTaint, resumeAll, uncordon } from './liveedits.js';

/** @typedef {import('./live.js').LeewardLive} FormPage */

/** Longest text of manifests. */
const mostManifests = 200_000;

/** A field with its name. @param {string} label @param {string} placeholder @param {string} [value] */
function field(label, placeholder, value = '') { return h('input', { type: 'text', 'aria-label': label, placeholder, value, spellcheck: 'false', autocomplete: 'off' }); }

/** A form that does something when it is sent. @param {import('./dom.js').DomChild[]} parts @param {string} verb @param {() => void} submit */
function form(parts, verb, submit) {
  return h('form', { class: 'edit', onsubmit: (/** @type {Event} */ e) => {
    e.preventDefault();
    submit();
  } }, parts, h('button', {}, verb));
}

/** What would follow if clusters were lost, tainted or drained, or manifests applied. @param {FormPage} page */
export function whatIfForm(page) {
  const clusters = field('Clusters, with spaces between', 'eu-1 eu-2');
  clusters.setAttribute('list', 'clusternames');
  const names = h('datalist', { id: 'clusternames' });
  clusters.addEventListener('focus', () => names.replaceChildren(...[...(page.model?.clusters.keys() ?? [])].map((name) => h('option', { value: name }))));
  const how = h('select', { 'aria-label': 'What happens' }, h('option', { value: 'lose' }, 'are lost'), h('option', { value: 'taint' }, 'are tainted'), h('option', { value: 'drain' }, 'are drained'), h('option', { value: 'apply' }, 'manifests are applied'));
  const taint = field('Taint', 'key=value:NoExecute', 'maintenance:NoExecute');
  const manifests = h('textarea', { 'aria-label': 'Manifests, YAML or JSON', placeholder: 'YAML of policies, clusters …', rows: 8, maxlength: mostManifests, spellcheck: 'false', autocomplete: 'off' });
  const fit = () => {
    taint.hidden = how.value !== 'taint';
    manifests.hidden = how.value !== 'apply';
    clusters.hidden = how.value === 'apply';
  };
  how.addEventListener('change', fit);
  fit();
  const ask = async () => {
    const { api } = page;
    const named = clusters.value.split(/[\s,]+/).filter(Boolean);
    if (!api) return;
    try {
      if (how.value === 'apply') {
        page.previewing('the manifests applied');
        page.show({ title: 'the manifests applied', status: await api.previewOf(appliedPreview(manifests.value)), notes: [] });
        return;
      }
      if (!named.length) throw new Error('name a cluster');
      const title = `${named.join(', ')} ${how.value === 'lose' ? 'lost' : how.value === 'taint' ? `tainted ${taint.value.trim()}` : 'drained'}`;
      page.previewing(title);
      const spec = how.value === 'drain' ? { objects: (await Promise.all(named.map((name) => api.get(clusterPath(name))))).flatMap((o) => drained(o).objects) } : { clusters: named, ...(how.value === 'taint' ? { taints: [readTaint(taint.value)] } : {}) };
      page.show({ title, status: await api.preview(spec), notes: [] });
    } catch (error) {
      page.show(null);
      page.tell('No preview', error);
    }
  };
  return h('section', { class: 'whatif' }, h('h2', {}, 'What if'), form([clusters, names, how, taint, manifests], 'Preview', () => void ask()), h('p', { class: 'small soft' }, 'A preview changes nothing.'));
}

/** The buttons of a cluster "c:name", a binding "b:namespace/name" or the fleet "g:". @param {FormPage} page @param {string} what */
export function editForms(page, what) {
  const name = what.slice(2);
  if (what.startsWith('c:')) return page.may?.clusters && page.model?.clusters.has(name) ? clusterForms(page, name) : null;
  if (what.startsWith('b:')) return page.may?.bindings ? bindingForms(page, name) : null;
  return page.may?.governor ? fleetForms(page) : null;
}

/** @param {FormPage} page @param {string} name */
function clusterForms(page, name) {
  const c = page.model?.clusters.get(name);
  const isCordoned = c?.taints?.includes('cluster.karmada.io/unschedulable:NoSchedule') || c?.drain;
  const taint = field('Taint to add', 'key=value:NoExecute');
  return h('div', { class: 'edits' }, h('p', { class: 'actions' },
    button(`Cordon ${name}`, 'Cordon …', () => void page.propose(() => cordon(name)), { disabled: Boolean(isCordoned) }), button(`Uncordon ${name}`, 'Uncordon …', () => void page.propose(() => uncordon(name)), { disabled: !isCordoned }),
    button(`Drain ${name}`, 'Drain …', () => void page.propose(() => drainCluster(name)), { disabled: Boolean(c?.drain) })),
  form([taint], 'Taint …', () => void page.propose(() => addTaint(name, readTaint(taint.value)))),
  (c?.taints ?? []).map((t) => button(`Remove the taint ${t}`, `Remove ${t} …`, () => void page.propose(() => removeTaint(name, t)))),
  holdForm(page, `cluster ${name}`, clusterPath(name), c?.held !== undefined, false));
}

/** @param {FormPage} page @param {string} name */
function bindingForms(page, name) {
  const at = name.indexOf('/');
  const path = bindingPath(name.slice(0, Math.max(0, at)), name.slice(at + 1));
  return h('div', { class: 'edits' }, holdForm(page, name, path, true, true));
}

/** @param {FormPage} page @param {string} what @param {string} path @param {boolean} held @param {boolean} binding */
function holdForm(page, what, path, held, binding) {
  const reason = field('Reason', 'reason');
  const lasts = field('For how long', '30m');
  lasts.className = 'short';
  const ends = () => endsAfter(lasts.value, page.model?.clock(Date.now()) ?? 0);
  return [form([reason, lasts], 'Hold evictions …', () => void page.propose(() => holdEvictions(what, path, reason.value, ends()))), h('p', { class: 'actions' },
    button(`End the hold of ${what}`, 'Release …', () => void page.propose(() => endHold(what, path, binding)), { disabled: !held }),
    binding ? button(`Let the evictions of ${what} pass all limits`, 'Release now …', () => void page.propose(() => releaseNow(what, path, reason.value))) : null)];
}

/** @param {FormPage} page */
function fleetForms(page) {
  if (page.model?.governor.pause) return h('p', { class: 'actions' }, button('Resume evictions', 'Resume …', () => void page.propose(resumeAll)));
  const reason = field('Reason of the pause', 'reason');
  const lasts = field('How long the pause lasts', '30m');
  lasts.className = 'short';
  return form([reason, lasts], 'Pause all evictions …', () => void page.propose(() => pauseAll(reason.value, endsAfter(lasts.value, page.model?.clock(Date.now()) ?? 0))));
}
