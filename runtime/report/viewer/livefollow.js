// What is followed by itself: the bindings that are selected or pinned, each by a watch of the API, so that their copies and tasks show
// whatever the picture names.
import { ApiError, lineReader } from './liveapi.js';
import { bindingPath } from './liveedits.js';

/** @typedef {import('./live.js').LeewardLive} FollowPage */

/** How many bindings are followed, and how long the page waits before it asks again. */
export const mostFollowed = 12;
const retryAfter = 3000;

export class LiveFollow {
  /** @param {FollowPage} page */
  constructor(page) {
    this.page = page;
    /** @type {Map<string, AbortController>} */
    this.followed = new Map();
  }

  /** Follows these bindings, and no others. @param {string[]} names */
  only(names) {
    const wanted = new Set(names.slice(0, mostFollowed));
    for (const [name, connection] of this.followed) {
      if (wanted.has(name)) continue;
      connection.abort();
      this.followed.delete(name);
      this.page.lanes?.run?.forget(name);
    }
    for (const name of wanted) {
      if (this.followed.has(name)) continue;
      const connection = new AbortController();
      this.followed.set(name, connection);
      void this.follow(name, connection.signal);
    }
  }

  /** @param {string} name @param {AbortSignal} signal */
  async follow(name, signal) {
    const { api } = this.page;
    const slash = name.indexOf('/');
    const own = name.slice(slash + 1);
    const list = bindingPath(name.slice(0, Math.max(0, slash)), own).replace(/\/[^/]*$/, '');
    while (api && !signal.aborted) {
      try {
        const answer = await api.ask(`${list}?${new URLSearchParams({ watch: '1', fieldSelector: `metadata.name=${own}` })}`, { signal });
        await lineReader(answer, (line) => this.hear(name, JSON.parse(line)));
      } catch (error) {
        if (error instanceof ApiError && error.code < 500 && error.code !== 429) return; // the reason panel says why
      }
      await new Promise((resolve) => setTimeout(resolve, retryAfter));
    }
  }

  /** @param {string} name @param {{type: string, object: any}} event */
  hear(name, event) {
    const { lanes, model } = this.page;
    if (!lanes || !model || !this.followed.has(name)) return;
    if (event.type === 'ADDED' || event.type === 'MODIFIED') lanes.object(name, event.object, model.clock(Date.now()));
    else if (event.type === 'DELETED') lanes.object(name, null, model.clock(Date.now()));
  }
}
