// What the buttons write: for each the path of the object, and the merge patch of it as it is now. Pure values.

/** @typedef {{key: string, value?: string, effect: string, timeAdded?: string}} Taint */
/** @typedef {{metadata: {name: string, namespace?: string, resourceVersion?: string, annotations?: Record<string, string>}, spec?: any}} Stored */
/** @typedef {{title: string, path: string, patch: (o: Stored) => any, question?: (o: Stored) => any, create?: any}} Edit */

const cordoned = { key: 'cluster.karmada.io/unschedulable', effect: 'NoSchedule' };
const drain = 'leeward.dev/drain';
const hold = 'leeward.dev/hold-evictions';
const holdUntil = 'leeward.dev/hold-until';
const release = 'leeward.dev/release-evictions';

const part = encodeURIComponent;

/** @param {string} name */
export function clusterPath(name) { return `/apis/cluster.karmada.io/v1alpha1/clusters/${part(name)}`; }

/** @param {string} namespace @param {string} name */
export function bindingPath(namespace, name) {
  return namespace ? `/apis/work.karmada.io/v1alpha2/namespaces/${part(namespace)}/resourcebindings/${part(name)}` : `/apis/work.karmada.io/v1alpha2/clusterresourcebindings/${part(name)}`;
}

export const governorsPath = '/apis/leeward.dev/v1alpha1/governors';
export const previewsPath = '/apis/leeward.dev/v1alpha1/failoverpreviews';

/**
 * The question what would follow if manifests were applied, as YAML: each document is an object of it.
 * @param {string} manifests
 */
export function appliedPreview(manifests) {
  const documents = manifests.split(/^---.*$/m).map((d) => d.replace(/^\s*\n|\s+$/g, '')).filter((d) => d.replace(/^\s*#.*$/gm, '').trim());
  if (!documents.length) throw new Error('give a manifest');
  const objects = documents.map((d) => `  -\n${d.replace(/^/gm, '    ')}\n`);
  return `apiVersion: leeward.dev/v1alpha1\nkind: FailoverPreview\nmetadata: {name: live}\nspec:\n  objects:\n${objects.join('')}`;
}

/**
 * A taint as kubectl writes it: key[=value]:effect.
 * @param {string} text
 * @returns {Taint}
 */
export function readTaint(text) {
  const [, key, , value, effect] = /^([^=:\s]+)(=([^=:\s]*))?:(\w+)$/.exec(text.trim()) ?? [];
  if (!['NoExecute', 'NoSchedule', 'PreferNoSchedule'].includes(effect)) throw new Error(`"${text.trim()}" is not a taint: write key=value:NoExecute, or key:NoSchedule`);
  return value === undefined || value === '' ? { key, effect } : { key, value, effect };
}

/** @param {Taint} t */
export function taintText(t) { return `${t.key}${t.value ? `=${t.value}` : ''}:${t.effect}`; }

/** @param {Stored} o @returns {Taint[]} */
function taintsOf(o) { return o.spec?.taints ?? []; }

/** @param {Taint} a @param {Taint} b */
function same(a, b) { return a.key === b.key && a.effect === b.effect; }

/** @param {Stored} o @param {Taint} t */
function withTaint(o, t) { return { spec: { taints: [...taintsOf(o).filter((x) => !same(x, t)), t] } }; }

/** @param {Record<string, string | null>} annotations */
function annotated(annotations) { return { metadata: { annotations } }; }

/** @param {string} name @param {Taint} t @returns {Edit} */
export function addTaint(name, t) {
  return { title: `taint ${name} ${taintText(t)}`, path: clusterPath(name), patch: (o) => withTaint(o, t), question: () => ({ clusters: [name], taints: [t] }) };
}

/** @param {string} name @param {string} text @returns {Edit} */
export function removeTaint(name, text) {
  return { title: `remove the taint ${text} of ${name}`, path: clusterPath(name), patch: (o) => ({ spec: { taints: taintsOf(o).filter((t) => taintText(t) !== text) } }) };
}

/** @param {string} name @returns {Edit} */
export function cordon(name) { return { title: `cordon ${name}`, path: clusterPath(name), patch: (o) => withTaint(o, cordoned) }; }

/** Ends a drain, too, as the command does. @param {string} name @returns {Edit} */
export function uncordon(name) {
  return { title: `uncordon ${name}`, path: clusterPath(name), patch: (o) => ({ ...annotated({ [drain]: null }), spec: { taints: taintsOf(o).filter((t) => !same(t, cordoned)) } }) };
}

/** A cluster as it would be while it is drained, for the question what that leads to. @param {Stored} o */
export function drained(o) {
  const { resourceVersion: _, managedFields: __, ...metadata } = /** @type {any} */ (o.metadata);
  return { objects: [{ ...o, metadata: { ...metadata, annotations: { ...metadata.annotations, [drain]: '' } } }] };
}

/** @param {string} name @returns {Edit} */
export function drainCluster(name) { return { title: `drain ${name}`, path: clusterPath(name), patch: () => annotated({ [drain]: '' }), question: drained }; }

/** @param {string} what @param {string} path @param {string} reason @param {string} [ends] when it ends by itself, RFC 3339 @returns {Edit} */
export function holdEvictions(what, path, reason, ends) {
  return { title: `hold the evictions of ${what}`, path, patch: () => annotated({ [hold]: needed(reason), [holdUntil]: ends ?? null }) };
}

/** @param {string} what @param {string} path @param {boolean} binding @returns {Edit} */
export function endHold(what, path, binding) {
  return { title: `release the evictions of ${what}`, path, patch: () => annotated(binding ? { [hold]: null, [holdUntil]: null, [release]: null } : { [hold]: null, [holdUntil]: null }) };
}

/** @param {string} what @param {string} path @param {string} reason @returns {Edit} */
export function releaseNow(what, path, reason) {
  return { title: `let the evictions of ${what} pass all limits`, path, patch: () => annotated({ [release]: needed(reason) }) };
}

const fleetGovernor = { apiVersion: 'leeward.dev/v1alpha1', kind: 'Governor', metadata: { name: 'fleet' } };

/** @param {string} reason @param {string} [ends] @returns {Edit} */
export function pauseAll(reason, ends) {
  return { title: 'pause all evictions', path: `${governorsPath}/fleet`, patch: () => ({ spec: { pause: { reason: needed(reason), until: ends ?? null } } }), create: fleetGovernor };
}

/** @returns {Edit} */
export function resumeAll() { return { title: 'resume evictions', path: `${governorsPath}/fleet`, patch: () => ({ spec: { pause: null } }) }; }

/** @param {string} reason */
function needed(reason) {
  if (!reason.trim()) throw new Error('give a reason: it is stored and shown with each blocked eviction');
  return reason.trim();
}

/**
 * When a hold ends that begins now and lasts "30m", "2h" or "90s"; undefined: until it is ended.
 * @param {string} text @param {number} now
 */
export function endsAfter(text, now) {
  if (!text.trim()) return undefined;
  const [, n, unit] = /^(\d{1,6})([smh])$/.exec(text.trim()) ?? [];
  if (!n) throw new Error(`"${text.trim()}" is not a duration: write 90s, 30m or 2h`);
  return new Date(Math.floor(now / 1000) * 1000 + Number(n) * { s: 1e3, m: 60e3, h: 3600e3 }[/** @type {'s' | 'm' | 'h'} */ (unit)]).toISOString().replace('.000', '');
}

/** Sentences of Warning headers: 299 - "text". @param {string | null} header */
export function warningsOf(header) {
  return [...(header ?? '').matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((m) => m[1].replace(/\\(.)/g, '$1'));
}
