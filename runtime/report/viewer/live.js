// The live page: hears the daemon, shows the fleet as it is, explains what is selected, previews what would happen, and does what
// was previewed and confirmed.
import { h, fill, button } from './dom.js';
import { numberText, slideView, zoomView } from './scale.js';
import { LiveModel, moves, timeOfDay } from './livemodel.js';
import { ApiError, LiveApi } from './liveapi.js';
import { LiveBoard } from './liveboard.js';
import { LiveReason } from './livereason.js';
import { LiveLanes } from './livelanes.js';
import { LiveSearch } from './livesearch.js';
import { LiveFollow, mostFollowed } from './livefollow.js';
import { fromLive, toLive } from './livelink.js';
import { editForms, whatIfForm } from './liveforms.js';

/** @typedef {import('./liveedits.js').Edit} LiveEdit */
/** @typedef {import('./livemodel.js').Preview} LivePreview */

/** How long the daemon may be silent before the page says that it is not live, and how long it waits before it asks again. */
const silentAfter = 15_000;
const again = 3000;
/** How long a selection must rest before the daemon is asked to explain it. */
const restsFor = 150;

/** What a user may do. */
const rights = /** @type {const} */ ({ clusters: ['patch', 'cluster.karmada.io', 'clusters'], bindings: ['patch', 'work.karmada.io', 'resourcebindings'], governor: ['patch', 'leeward.dev', 'governors'], previews: ['create', 'leeward.dev', 'failoverpreviews'] });

export class LeewardLive extends HTMLElement {
  connectedCallback() {
    this.api = new LiveApi();
    this.model = new LiveModel();
    /** @type {Record<keyof typeof rights, boolean>} */
    this.may = { clusters: false, bindings: false, governor: false, previews: false };
    /** @type {LivePreview | null} */
    this.preview = null;
    /** What is selected: a cluster "c:name", or a binding "b:namespace/name"; and what is pinned. */
    this.selected = '';
    /** What was selected beside the lanes: its lane comes first. */
    this.lead = '';
    /** @type {string[]} */
    this.pins = [];
    this.build();
    this.openLink();
    window.addEventListener('hashchange', () => this.openLink());
    document.addEventListener('keydown', (e) => this.key(e));
    setInterval(() => this.tick(), 1000);
    void this.run();
  }

  build() {
    this.state = h('span', { class: 'livestate', role: 'status' }, 'connecting');
    this.user = h('span', { class: 'soft small' });
    this.leave = button('Sign out', 'Sign out', () => this.signOut());
    this.leave.hidden = true;
    this.search = h('input', { type: 'search', id: 'search', placeholder: 'Search workloads and clusters', 'aria-label': 'Search workloads and clusters', spellcheck: 'false', autocomplete: 'off', oninput: () => this.searched() });
    this.board = new LiveBoard(this);
    this.reason = new LiveReason(this);
    this.lanes = new LiveLanes(this);
    this.finder = new LiveSearch(this);
    this.follow = new LiveFollow(this);
    this.banner = h('section', { class: 'preview', 'aria-live': 'polite', hidden: true });
    this.tools = h('div', { class: 'tools' });
    this.dialog = h('dialog', {});
    this.view = h('div', { class: 'live', hidden: true }, this.board.totals, this.banner,
      h('div', { class: 'columns' }, h('main', {}, this.finder.element, this.lanes.element, this.board.evictions, this.board.clusters),
        h('aside', {}, this.reason.element, this.tools, this.board.governor)));
    this.entry = h('main', { class: 'entry', hidden: true });
    fill(this, h('header', { class: 'top' }, h('h1', {}, 'Leeward ', h('span', { class: 'soft' }, location.host)), this.state, this.search, h('span', { class: 'who' }, this.user, this.leave)), this.entry, this.view, this.dialog);
  }

  /** Hears the daemon, again and again. */
  async run() {
    for (;;) {
      let wait = again;
      try {
        const [ended] = await Promise.all([this.listen(), this.begin()]); // the picture does not wait for the rights
        wait = ended === 'renew' ? 0 : again;
        this.say(ended === 'slow' ? 'this browser was too slow and was dropped; asking again' : ended === 'stopping' ? 'the daemon is stopping' : ended === 'renew' ? '' : 'the connection ended; asking again');
      } catch (error) {
        this.connection?.abort();
        if (error instanceof ApiError && (error.code === 401 || error.code === 403)) {
          await this.askToken(error);
          wait = 0;
        } else this.say(error instanceof ApiError ? error.message : 'the daemon does not answer; asking again');
      }
      if (wait) await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Learns who the user is and what he may do; once for each sign-in. */
  async begin() {
    const { api, may } = this;
    if (!api || !may || !this.user || !this.leave || this.user.textContent) return;
    const name = await api.whoAmI();
    await Promise.all(Object.entries(rights).map(async ([what, [verb, group, resource]]) => { may[/** @type {keyof typeof rights} */ (what)] = await api.may(verb, group, resource); }));
    this.user.textContent = name;
    this.leave.hidden = !api.token;
    this.drawTools();
  }

  /** @returns {Promise<string>} */
  async listen() {
    const { api, model, view, entry } = this;
    if (!api || !model || !view || !entry) return 'lost';
    this.connection = new AbortController();
    const connection = this.connection;
    if (!this.lanes?.run) this.lanes?.remember(await api.past());
    return api.watch((m) => {
      try {
        model.apply(m, Date.now());
      } catch (error) {
        connection.abort(error);
        return;
      }
      view.hidden = false;
      entry.hidden = true;
      this.say('');
      this.lanes?.take(model.clock(Date.now()));
      if (!this.began) this.restored();
      this.began = true;
      this.draw();
    }, connection.signal);
  }

  /** Has the user give a token. @param {ApiError} why */
  askToken(why) {
    const { entry, view, api, user, model } = this;
    if (!entry || !view || !api || !user || !model) return Promise.resolve();
    view.hidden = true;
    entry.hidden = false;
    const name = user.textContent;
    user.textContent = '';
    model.totals = null;
    this.say('not signed in');
    return new Promise((/** @type {(v?: any) => void} */ resolve) => {
      const token = h('input', { type: 'password', id: 'token', autocomplete: 'off', 'aria-label': 'Token', placeholder: 'Token' });
      const reason = why.code === 403 ? `${name ? `${name}: ` : ''}${why.message}` : api.token ? 'The daemon does not know this token, or it has ended.' : '';
      fill(entry, h('h2', {}, why.code === 403 ? 'You may not see this page' : 'Sign in'), h('p', { class: reason ? 'failed' : 'soft' }, reason || 'The page shows the fleet to users who may list its clusters and bindings.'),
        h('form', { onsubmit: (/** @type {Event} */ e) => {
          e.preventDefault();
          api.signIn(token.value);
          fill(entry, h('p', { class: 'soft' }, 'signing in …'));
          resolve();
        } }, token, h('button', {}, 'Sign in')),
        h('p', { class: 'soft' }, 'A token for an hour, and the address with it, is printed on the machine of the daemon by'), h('code', {}, 'leewardd ui --open'));
      token.focus();
    });
  }

  signOut() {
    if (!this.user) return;
    this.api?.signOut();
    this.user.textContent = '';
    this.connection?.abort();
  }

  /** Says how the connection is. @param {string} trouble empty: it is live */
  say(trouble) {
    this.trouble = trouble;
    this.tick();
  }

  /** A second has passed. */
  tick() {
    const { state, model, trouble } = this;
    if (!state || !model) return;
    const now = Date.now();
    const silent = model.totals !== null && now - model.heard > silentAfter;
    const live = !trouble && !silent && model.totals !== null;
    state.textContent = live ? `live, ${timeOfDay(model.clock(now))}` : trouble || (model.totals ? `not live: last heard at ${timeOfDay(model.heard)}` : 'connecting');
    state.className = `livestate ${live ? 'passed' : 'failed'}`;
    if (!model.totals) return;
    this.board?.tick(model.clock(now));
    this.lanes?.tick(model.clock(now));
  }

  words() { return (this.search?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean); }

  /** Draws once in a frame, however much was said. */
  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.board?.draw();
      this.reason?.draw();
      const t = this.model?.totals;
      if (t) document.title = `${t.evictions.blocked ? `${numberText(t.evictions.blocked)} blocked · ` : ''}${t.clusters.ready}/${t.clusters.all} Ready – Leeward live`;
    });
  }

  drawTools() {
    const { tools, may } = this;
    if (!tools || !may) return;
    fill(tools, may.previews ? whatIfForm(this) : null);
    this.reason?.draw(true);
    this.draw();
  }

  /** The words of the search have changed. */
  searched() {
    this.finder?.ask(this.search?.value ?? '');
    this.lanes?.goOn();
    this.draw();
    this.remember();
  }

  /** @param {string} what @param {boolean} [within] whether it is a lane that is selected: the others remain where they are */
  select(what, within = false) {
    this.selected = what;
    if (!within) this.lead = what;
    this.chosen();
    clearTimeout(this.asking);
    this.asking = setTimeout(() => void this.reason?.load(), restsFor); // keys that go through lanes ask for the last one alone
    this.reason?.draw();
  }

  /** Pins something, or pins it no more. @param {string} what */
  pin(what) {
    this.pins = this.pins.includes(what) ? this.pins.filter((p) => p !== what) : [...this.pins, what].slice(0, mostFollowed);
    this.chosen();
    this.reason?.draw(true);
  }

  /** What is selected or pinned has changed: it is followed, shown, and in the address. */
  chosen() {
    this.follow?.only([this.selected ?? '', this.lead ?? '', ...this.pins].filter((w) => w.startsWith('b:')).map((w) => w.slice(2)));
    this.lanes?.goOn();
    this.draw();
    this.remember();
  }

  /** Shows what the address says. */
  openLink() {
    const link = fromLive(location.hash);
    if (this.search) this.search.value = link.q;
    this.pins = link.pins;
    this.selected = this.lead = link.selected;
    if (this.began) this.restored();
  }

  /** Asks for what the address names. */
  restored() {
    this.finder?.ask(this.search?.value ?? '');
    this.chosen();
    void this.reason?.load();
  }

  /** Writes the view into the address, which has the token no more. */
  remember() {
    const fragment = toLive({ q: this.search?.value ?? '', selected: this.selected ?? '', pins: this.pins });
    if (location.hash !== fragment) history.replaceState(null, '', fragment || location.pathname);
  }

  /**
   * Shows a preview on the picture; null: no more.
   * @param {LivePreview | null} preview
   */
  show(preview) {
    this.preview = preview;
    const { banner } = this;
    if (!banner) return;
    banner.hidden = !preview;
    if (preview) {
      const { status } = preview;
      fill(banner, h('h2', {}, h('b', {}, 'Preview'), `: ${preview.title}. Nothing was changed.`), previewLines(preview).map((l) => h('p', {}, l)),
        (status.unschedulableBindings ?? []).slice(0, 5).map((u) => h('p', { class: 'failed' }, `unschedulable: ${u.namespace ? `${u.namespace}/` : ''}${u.name}: ${u.message}`)),
        button('Close the preview', 'Close', () => this.show(null)));
    }
    this.moves = preview ? moves(preview.status) : new Map();
    this.draw();
  }

  /** Says that a preview is being made: that of a large fleet takes seconds. @param {string} title */
  previewing(title) {
    const { banner } = this;
    if (!banner) return;
    banner.hidden = false;
    fill(banner, h('p', { class: 'soft' }, `previewing: ${title} …`));
  }

  /**
   * Does an edit: first as a dry run, whose preview is shown, and then, once it is confirmed, for good. It fails if the object has changed
   * since the preview.
   * @param {() => LiveEdit} make
   */
  async propose(make) {
    const { api, dialog, may } = this;
    if (!api || !dialog || !may) return;
    /** @type {LiveEdit} */
    let edit;
    try {
      edit = make();
    } catch (error) {
      this.tell('Not done', error);
      return;
    }
    this.previewing(edit.title);
    try {
      const stored = await api.get(edit.path).catch(async (error) => {
        if (!(error instanceof ApiError) || error.code !== 404 || !edit.create) throw error;
        return null;
      });
      const patch = edit.patch(stored ?? edit.create);
      const notes = stored ? await api.patch(edit.path, patch, stored.metadata.resourceVersion ?? '', true) : [];
      const status = stored && edit.question && may.previews ? await api.preview(edit.question(stored)) : { evicted: 0, unschedulable: 0 };
      const preview = { title: edit.title, status, notes };
      this.show(preview);
      if (!(await this.confirmed(edit, preview))) return;
      this.show(null);
      let current = stored;
      if (!current) current = await api.json(edit.path.slice(0, edit.path.lastIndexOf('/')), { method: 'POST', body: edit.create });
      await api.patch(edit.path, patch, current?.metadata.resourceVersion ?? '', false);
      this.say('');
      void this.reason?.load();
    } catch (error) {
      this.show(null);
      this.tell(`Not done: ${edit.title}`, error instanceof ApiError && error.code === 409 ? new Error('the object was changed meanwhile, and the preview is of how it was: preview it again') : error);
    }
  }

  /** Asks whether what was previewed should be done. @param {LiveEdit} edit @param {LivePreview} preview @returns {Promise<boolean>} */
  confirmed(edit, preview) {
    return new Promise((resolve) => {
      this.open(h('h2', {}, 'Preview'), h('p', {}, `Nothing has been changed. This would ${edit.title}:`), h('ul', {}, previewLines(preview).map((l) => h('li', {}, l))),
        h('form', { method: 'dialog' }, h('button', { value: 'cancel' }, 'Cancel'), ' ', h('button', { value: 'do', class: 'danger' }, 'Do it')));
      this.dialog?.addEventListener('close', () => {
        const done = this.dialog?.returnValue === 'do';
        if (!done) this.show(null);
        resolve(done);
      }, { once: true });
    });
  }

  /** @param {string} title @param {unknown} error */
  tell(title, error) { this.open(h('h2', {}, title), h('p', { class: 'failed' }, error instanceof Error ? error.message : String(error)), h('form', { method: 'dialog' }, h('button', {}, 'Close'))); }

  /** @param {...import('./dom.js').DomChild} content */
  open(...content) {
    const { dialog } = this;
    if (!dialog) return;
    if (dialog.open) dialog.close();
    dialog.returnValue = '';
    fill(dialog, content);
    dialog.showModal();
  }

  /** The forms of what is selected. @param {string} what */
  forms(what) { return editForms(this, what); }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement || e.target instanceof HTMLSelectElement || this.dialog?.open) return;
    const s = this.lanes?.s;
    if (e.key === '/') {
      e.preventDefault();
      this.search?.focus();
    } else if (e.key === 't') /** @type {HTMLElement | null} */ (this.querySelector('leeward-lanes .names'))?.focus();
    else if (s && (e.key === '+' || e.key === '-')) s.look(zoomView(s.view, e.key === '+' ? 0.5 : 2, s.axis.at(s.cursor)));
    else if (s && (e.key === '[' || e.key === ']')) s.look(slideView(s.view, e.key === '[' ? -0.25 : 0.25));
    else if (s && e.key === '0') this.lanes?.toNow(s);
    else if (e.key === 'Escape') {
      if (this.preview) this.show(null);
      else this.select('');
    }
  }
}

/** What a preview says, each line once. @param {LivePreview} p @returns {string[]} */
function previewLines({ status, notes }) {
  const lines = [...(status.summary ?? []), ...(status.warnings ?? []), ...notes].map((l) => l.replace(/^preview: /, ''));
  return lines.length ? [...new Set(lines)] : ['nothing would be evicted'];
}

customElements.define('leeward-live', LeewardLive);
