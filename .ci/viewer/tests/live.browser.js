// The live page of a daemon in a real browser. LEEWARDD names the daemon, which has a fleet of three clusters without agents.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { barriers, close, drawn, painted, visit } from './browser.js';

const leewardd = process.env.LEEWARDD ?? '';
const data = mkdtempSync(join(tmpdir(), 'leeward-live-'));
/** @type {import('node:child_process').ChildProcess} */
let daemon;
let own = '';
let admin = '';

/** The address of the page with a token of a user in a group. @param {string} group */
const address = (group) => execFileSync(leewardd, ['ui', '--open', '--data-dir', data, '--group', group], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** Asks the API as an administrator. @param {string} method @param {string} path @param {any} [body] @returns {Promise<any>} */
const api = (method, path, body) => new Promise((resolve, reject) => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const r = request(own + path, { method, rejectUnauthorized: false, headers: { Authorization: `Bearer ${admin}`, 'Content-Type': type } }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (d) => { text += d; }).on('end', () => ((answer.statusCode ?? 500) < 300 ? resolve(JSON.parse(text)) : reject(new Error(`${method} ${path}: ${text}`))));
  });
  r.on('error', reject);
  r.end(body === undefined ? undefined : JSON.stringify(body));
});

const clusters = '/apis/cluster.karmada.io/v1alpha1/clusters';
const bindings = '/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings';
const hostile = '<img src=x onerror="document.title=\'owned\'">';

before(async () => {
  daemon = spawn(leewardd, ['--data-dir', data, '--secure-port', '0', '--log-level', 'error'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => daemon.stdout?.once('data', resolve));
  const open = address('leeward:admins');
  own = new URL(open).origin;
  admin = new URLSearchParams(new URL(open).hash.slice(1)).get('token') ?? '';
  for (const name of ['m1', 'm2', 'm3']) {
    await api('POST', clusters, { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name }, spec: { region: 'eu' } });
    await api('PATCH', `${clusters}/${name}/status`, { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Up', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }], apiEnablements: [{ groupVersion: 'apps/v1', resources: [{ name: 'deployments', kind: 'Deployment' }] }] } });
  }
  await api('POST', '/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies', { apiVersion: 'policy.karmada.io/v1alpha1', kind: 'PropagationPolicy', metadata: { name: 'all' }, spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement: { spreadConstraints: [{ minGroups: 1, maxGroups: 1 }], clusterTolerations: [{ key: 'later', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 600 }], clusterAffinity: { clusterNames: ['m1', 'm2'] } } } });
  await api('POST', '/apis/apps/v1/namespaces/default/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'b' }] } } } });
  for (;;) {
    const b = await api('GET', bindings);
    if (b.items[0]?.spec.clusters?.length) break;
  }
});

after(async () => {
  await close();
  daemon.kill();
  await new Promise((resolve) => daemon.once('exit', resolve));
  rmSync(data, { recursive: true });
});

/** @param {string} group @param {import('./browser.js').How} [how] */
const open = (group, how) => visit(address(group), own, '[data-select="c:m1"]', how);
/** @param {import('playwright-core').Page} page @param {string} key */
const row = (page, key) => page.getByRole('region', { name: key[0] === 'c' ? 'Clusters' : 'Evictions', exact: true }).locator('tr', { has: page.locator(`[data-select="${key}"]`) });
/** Where the workload is. @returns {Promise<string>} */
const placed = async () => (await api('GET', `${bindings}/web-deployment`)).spec.clusters[0].name;
/** @param {string} name */
const taints = async (name) => ((await api('GET', `${clusters}/${name}`)).spec.taints ?? []).map((/** @type {any} */ t) => t.key);

test('a taint shows within seconds, its deadline counts down, and a click gives the reason', async () => {
  const { page, calm } = await open('leeward:viewers');
  assert.equal(new URL(page.url()).hash, '', 'the token is in no address');
  for (const canvas of ['leeward-fleet canvas', 'leeward-replicas canvas', 'leeward-lanes canvas']) assert.ok((await painted(page, canvas)) > 100, canvas);
  const on = await placed();
  await api('PATCH', `${clusters}/${on}`, { spec: { taints: [{ key: 'later', value: 'soon', effect: 'NoExecute' }] } });
  await api('POST', clusters, { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster', metadata: { name: 'm4' }, spec: { taints: [{ key: 'early', effect: 'NoSchedule' }] } });
  await row(page, `c:${on}`).getByText('later=soon:NoExecute').first().waitFor();
  const deadline = row(page, 'b:default/web-deployment').locator('[data-deadline]');
  await deadline.getByText(/^in 9m\d+s$/).waitFor();
  const before = await deadline.innerText();
  await page.waitForFunction((was) => document.querySelector('[data-deadline]')?.textContent !== was, before);
  await page.locator('[data-select="b:default/web-deployment"]').first().click();
  await page.getByText('what is under way').waitFor();
  const reason = await page.locator('.explained').innerText();
  for (const part of ['eviction scheduled', 'later=soon:NoExecute', 'for 600s']) assert.ok(reason.includes(part), `${part} in ${reason}`);
  assert.equal(await page.getByRole('button', { name: /Hold|Pause|Release/ }).count(), 0, 'a viewer has no buttons');
  await api('PATCH', `${clusters}/${on}`, { spec: { taints: [] } });
  await page.waitForFunction(() => !document.querySelector('[data-deadline]'));
  await calm();
});

test('a workload that nothing evicts is found, opened, followed in lanes, and in the address', async () => {
  const { page, calm } = await open('leeward:viewers');
  await page.keyboard.press('/');
  await page.keyboard.type('default/ web');
  await page.getByRole('region', { name: 'Workloads found' }).locator('[data-select="b:default/web-deployment"]').click();
  await page.getByText('why it is where it is').waitFor();
  const lanes = page.locator('leeward-lanes .name .label');
  await lanes.getByText('Followed').waitFor();
  const on = await placed();
  await lanes.getByText(`on ${on}`).first().waitFor();
  await page.getByRole('button', { name: 'Pin its lane, and follow it' }).click();
  const { hash } = new URL(page.url());
  assert.equal(hash, '#q=default%2F+web&sel=b%3Adefault%2Fweb-deployment&pin=b%3Adefault%2Fweb-deployment');
  const { page: again, calm: calmAgain } = await visit(`${address('leeward:viewers')}&${hash.slice(1)}`, own, 'leeward-lanes .name');
  await again.getByText('why it is where it is').waitFor();
  await again.locator('leeward-lanes .name .label').getByText(`on ${on}`).first().waitFor();
  assert.equal(new URL(again.url()).hash, hash, 'without the token');
  await again.getByLabel('Search workloads and clusters').fill('');
  await again.keyboard.press('Escape');
  await again.locator('leeward-lanes .names').focus();
  const focus = async () => (await drawn(again), (await again.locator('.name.focus').allInnerTexts()).join());
  for (let i = 0; i < 12 && !(await focus()).includes('m3'); i++) {
    await again.keyboard.press('ArrowDown');
    if ((await focus()).includes('▸\nunchanged')) await again.keyboard.press('Enter');
  }
  await again.locator('.reasons h3', { hasText: 'm3' }).waitFor();
  await again.keyboard.press('p');
  await again.waitForFunction(() => location.hash.endsWith('pin=c%3Am3'));
  await again.getByRole('button', { name: 'Unpin its lane' }).waitFor();
  await calm();
  await calmAgain();
});

test('a preview is drawn on the picture, and changes nothing', async () => {
  const { page, calm } = await open('leeward:viewers');
  const on = await placed();
  await page.getByLabel('Clusters, with spaces between').fill(on);
  await page.getByLabel('What happens').selectOption('taint');
  await page.getByLabel('Taint', { exact: true }).fill('gone:NoExecute');
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await page.getByText('Nothing was changed.').waitFor();
  await drawn(page);
  assert.match(await row(page, `c:${on}`).first().innerText(), /− 1 would be evicted/);
  assert.match(await page.locator('tr.previewed').innerText(), /would be evicted\s*to m[12]/);
  assert.deepEqual(await taints(on), []);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('.previewed'));
  await page.getByLabel('What happens').selectOption('apply');
  await page.getByLabel('Manifests, YAML or JSON').fill(`apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy\nmetadata: {name: all}\nspec:\n  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]\n  taints: [{key: gone, effect: NoExecute}]\n`);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await page.getByText('the manifests applied. Nothing was changed.').waitFor();
  assert.deepEqual(await taints(on), []);
  await page.getByLabel('What happens').selectOption('lose');
  await page.getByLabel('Clusters, with spaces between').fill('m9');
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await page.getByRole('dialog').getByText('there is no cluster "m9"').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.waitForFunction(() => !document.querySelector('dialog[open]'));
  await page.context().close(); // the browser itself logs the answer 400
  void calm;
});

test('an editor previews, then does, and what has changed meanwhile is not written over', async () => {
  const { page } = await open('leeward:editors');
  await page.locator('[data-select="c:m3"]').first().click();
  await page.getByLabel('Taint to add').fill('maintenance=rack4:NoExecute');
  await page.getByRole('button', { name: 'Taint …' }).click();
  await page.getByText('This would taint m3 maintenance=rack4:NoExecute').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(await taints('m3'), []);
  await page.getByRole('button', { name: 'Taint …' }).click();
  await page.getByRole('button', { name: 'Do it' }).click();
  await row(page, 'c:m3').getByText('maintenance=rack4:NoExecute').first().waitFor();
  await page.getByRole('button', { name: 'Cordon m3', exact: true }).click();
  await page.getByText('This would cordon m3').waitFor();
  await api('PATCH', `${clusters}/m3`, { spec: { taints: [{ key: 'other', effect: 'NoSchedule' }] } });
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.getByText('the object was changed meanwhile').waitFor();
  assert.deepEqual(await taints('m3'), ['other']);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Reason of the pause').fill('the network is rebuilt');
  await page.getByRole('button', { name: 'Pause all evictions …' }).click();
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.getByText('All evictions are paused').waitFor();
  await page.getByRole('button', { name: 'Resume evictions' }).click();
  await page.getByRole('button', { name: 'Do it' }).click();
  await page.waitForFunction(() => !document.body.textContent?.includes('All evictions are paused'));
  await page.context().close();
});

test('words of users stay words, and the policy holds', async () => {
  await api('PATCH', `${clusters}/m3`, { metadata: { annotations: { 'leeward.dev/hold-evictions': hostile } } });
  const { page, trouble, calm } = await open('leeward:editors');
  await row(page, 'c:m3').getByText(hostile).first().waitFor();
  await page.locator('[data-select="c:m3"]').first().click();
  await page.getByText('what the policies ask for').waitFor();
  assert.notEqual(await page.title(), 'owned');
  assert.equal(await page.locator('img, svg, iframe').count(), 0);
  assert.deepEqual(trouble, []);
  await page.evaluate(async () => {
    const stopped = /** @type {string[]} */ ((/** @type {any} */ (window)).stopped = []);
    document.addEventListener('securitypolicyviolation', (e) => stopped.push(e.effectiveDirective));
    try { document.body.innerHTML = '<img src=x>'; } catch { stopped.push('markup'); }
    try { const script = document.createElement('script'); script.text = 'window.owned = 1'; document.body.append(script); } catch { stopped.push('script'); }
    await fetch('https://example.invalid/').catch(() => stopped.push('request'));
  });
  await page.waitForFunction(() => ['markup', 'script', 'request', 'connect-src'].every((s) => (/** @type {any} */ (window)).stopped.includes(s)));
  trouble.length = 0;
  await calm();
});

test('without a token there is a sign-in, and nothing of the fleet', async () => {
  const { page } = await visit(`${own}/ui/`, own, '#token');
  assert.ok(!(await page.locator('body').innerText()).includes('m1'));
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The daemon does not know this token').waitFor();
  await page.getByLabel('Token').fill(new URLSearchParams(new URL(address('sre')).hash.slice(1)).get('token') ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(/must be allowed to list clusters/).waitFor();
  await page.getByLabel('Token').fill(admin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('[data-select="c:m1"]').first().waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.context().close();
});

test('contrast, names and roles hold, light and dark, wide and on a phone', async () => {
  for (const how of [{}, { width: 390, height: 844, dark: true }]) {
    const { page, calm } = await open('leeward:editors', how);
    await page.locator('[data-select="c:m3"]').first().click();
    await page.getByText('what the policies ask for').waitFor();
    await drawn(page);
    assert.deepEqual(await barriers(page), [], JSON.stringify(how));
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, 'nothing is wider than the screen');
    await calm();
  }
});

test('of before it was opened, the page shows what the daemon remembers', async () => {
  while (!JSON.stringify(await api('GET', '/ui/data/past')).includes('early:NoSchedule')) await new Promise((resolve) => setTimeout(resolve, 500));
  await api('DELETE', `${clusters}/m4`);
  const { page, calm } = await open('leeward:viewers');
  await page.locator('leeward-lanes .name', { hasText: 'm4' }).waitFor();
  await page.waitForFunction(() => !document.querySelector('[data-select="c:m4"]'));
  assert.match(await page.locator('.timeline header').innerText(), /since \d\d:\d\d:\d\d/);
  await calm();
});
