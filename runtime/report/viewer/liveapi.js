// The daemon as the page asks it: with the token of this tab, at the API that kubectl uses. Nothing is sent elsewhere, and there are no cookies.
import { eventReader } from './livemodel.js';
import { previewsPath, warningsOf } from './liveedits.js';

/** @typedef {import('./livemodel.js').LiveMessage} ApiMessage */
/** @typedef {import('./livemodel.js').PreviewStatus} ApiPreview */
/** @typedef {import('./liveedits.js').Stored} ApiObject */

const kept = 'leeward-token';

/** What the daemon answers where it does not do as asked. */
export class ApiError extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** An answer as it comes. @param {Response} answer @param {(text: string) => void} read */
async function pieces(answer, read) {
  const letters = new TextDecoder();
  const body = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  for (;;) {
    const { done, value } = await body.read();
    if (done) return;
    read(letters.decode(value, { stream: true }));
  }
}

/** An answer of many lines, each as it comes. @param {Response} answer @param {(line: string) => void} tell */
export function lineReader(answer, tell) {
  let rest = '';
  return pieces(answer, (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.filter(Boolean).forEach(tell);
  });
}

export class LiveApi {
  /** Takes the token out of the address, so that it is in no history and no copy of it. */
  constructor() {
    const view = new URLSearchParams(location.hash.slice(1));
    const given = view.get('token');
    if (given) {
      sessionStorage.setItem(kept, given);
      view.delete('token');
      history.replaceState(null, '', view.size ? `#${view}` : location.pathname);
    }
    this.token = sessionStorage.getItem(kept) ?? '';
  }

  /** @param {string} token */
  signIn(token) {
    this.token = token.trim();
    sessionStorage.setItem(kept, this.token);
  }

  signOut() {
    this.token = '';
    sessionStorage.removeItem(kept);
  }

  /**
   * Asks. The error is an ApiError, or that of a connection.
   * @param {string} path
   * @param {{method?: string, body?: any, text?: string, type?: string, signal?: AbortSignal}} [how]
   */
  async ask(path, how = {}) {
    /** @type {Record<string, string>} */
    const headers = { Accept: 'application/json' };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const sent = how.text ?? (how.body === undefined ? undefined : JSON.stringify(how.body));
    if (sent !== undefined) headers['Content-Type'] = how.type ?? 'application/json';
    const answer = await fetch(path, { method: how.method ?? 'GET', headers, body: sent, signal: how.signal, credentials: 'same-origin', cache: 'no-store', redirect: 'error' });
    if (answer.ok) return answer;
    const text = await answer.text();
    let message = text;
    try {
      message = JSON.parse(text).message ?? text;
    } catch { /* no Status: its text is the message */ }
    throw new ApiError(answer.status, message || `the daemon answered ${answer.status}`);
  }

  /** @param {string} path @param {{method?: string, body?: any, text?: string, type?: string}} [how] */
  async json(path, how) { return (await this.ask(path, how)).json(); }

  /**
   * Hears how the fleet is, until the daemon ends it; returns why it did.
   * @param {(m: ApiMessage) => void} tell
   * @param {AbortSignal} signal
   * @returns {Promise<string>}
   */
  async watch(tell, signal) {
    const answer = await this.ask('data/watch', { signal });
    let ended = 'lost';
    const read = eventReader((event, data) => {
      if (event === 'picture') tell(JSON.parse(data));
      else if (event === 'end') ended = JSON.parse(data).reason;
    });
    await pieces(answer, read);
    return ended;
  }

  /** How the fleet was within the last hour. @returns {Promise<ApiMessage[]>} */
  past() { return this.json('data/past'); }

  /** @returns {Promise<string>} who the user is */
  async whoAmI() {
    const me = await this.json('/apis/authentication.k8s.io/v1/selfsubjectreviews', { method: 'POST', body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' } });
    return me.status.userInfo.username;
  }

  /** @param {string} verb @param {string} group @param {string} resource @returns {Promise<boolean>} */
  async may(verb, group, resource) {
    const r = await this.json('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: { verb, group, resource } } } });
    return r.status.allowed === true;
  }

  /** @param {string} kind @param {string} name @returns {Promise<{lines: string[], alone?: string}>} */
  explain(kind, name) { return this.json(`data/explain?${new URLSearchParams({ kind, name })}`); }

  /** @param {string} q @returns {Promise<{all: number, workloads: import('./livesearch.js').FoundWorkload[]}>} */
  search(q) { return this.json(`data/search?${new URLSearchParams({ q })}`); }

  /** @param {any} spec @returns {Promise<ApiPreview>} */
  preview(spec) { return this.previewOf(JSON.stringify({ apiVersion: 'leeward.dev/v1alpha1', kind: 'FailoverPreview', metadata: { name: 'live' }, spec })); }

  /** @param {string} question YAML, as which JSON can be read @returns {Promise<ApiPreview>} */
  async previewOf(question) { return (await this.json(previewsPath, { method: 'POST', type: 'application/yaml', text: question })).status; }

  /** @param {string} path @returns {Promise<ApiObject>} */
  get(path) { return this.json(path); }

  /**
   * Patches an object, or says what a patch would lead to; it fails where the object is no longer as it was read.
   * @param {string} path @param {any} patch @param {string} version @param {boolean} dryRun
   * @returns {Promise<string[]>} the warnings
   */
  async patch(path, patch, version, dryRun) {
    const body = { ...patch, metadata: { ...patch.metadata, resourceVersion: version } };
    const answer = await this.ask(path + (dryRun ? '?dryRun=All' : ''), { method: 'PATCH', type: 'application/merge-patch+json', body });
    return warningsOf(answer.headers.get('Warning'));
  }
}
