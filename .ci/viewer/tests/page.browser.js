// The viewer in a real browser: node --test runs it where .ci/viewer/run has written pages.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { barriers, close, drawn, open, painted } from './browser.js';

after(close);

/** @typedef {import('playwright-core').Page} Page */

// What is read here is read once the page has drawn what was done before.
/** @param {Page} page @param {string} selector */
const text = async (page, selector) => (await drawn(page), page.locator(selector).first().innerText());
/** @param {Page} page */
const names = async (page) => (await drawn(page), page.locator('leeward-lanes .name .label').allTextContents());
/** @param {Page} page */
const reason = (page) => text(page, 'leeward-reason .reason');
/** @param {Page} page */
const clock = (page) => text(page, '.clock');
/** The view as the permalink has it. @param {Page} page */
const fragment = async (page) => {
  await drawn(page);
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('leeward-viewer')).later === undefined); // and its address is written
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
};

/** Words of users are words: they have become no element, and have run nothing. @param {Page} page */
const innocent = async (page) => {
  assert.notEqual(await page.title(), 'owned');
  assert.equal(await page.locator('img, svg, iframe, leeward-viewer script').count(), 0);
};

test('a run opens: lanes, charts, transcript', async () => {
  const { page, calm } = await open('one.html');
  assert.equal(await page.locator('h1').innerText(), 'nginx-is-evicted-from-a-failed-cluster');
  assert.ok((await names(page)).includes('member2'));
  for (const canvas of ['leeward-axis canvas', 'leeward-fleet canvas', 'leeward-replicas canvas', 'leeward-region canvas', 'leeward-lanes canvas']) assert.ok((await painted(page, canvas)) > 100, canvas);
  assert.ok((await page.locator('.line').count()) > 3);
  await calm();
});

test('search and filters leave out lanes, and say how many remain', async () => {
  const { page, calm } = await open('many.html');
  await page.keyboard.press('/');
  await page.keyboard.type('app-77');
  await page.waitForFunction(() => document.querySelector('.count')?.textContent?.startsWith('11 of'));
  assert.ok((await names(page)).includes('app-77-deployment'));
  await page.getByRole('button', { name: 'Clear search and filters' }).click();
  await page.getByLabel('Filter by region').selectOption('eu');
  const count = await text(page, '.count');
  assert.match(count, /^\d+ of 1\s000 workloads$/);
  assert.ok(!count.startsWith('1'), count);
  await page.getByLabel('Filter by outcome').selectOption('evicted');
  assert.equal((await fragment(page)).get('outcome'), 'evicted');
  await page.keyboard.press('Escape');
  await page.getByLabel('Search workloads and clusters').fill('no such workload');
  await page.getByText('None of the workloads and clusters passes the filter.').waitFor();
  await calm();
});

test('a brush zooms, keys and buttons zoom back', async () => {
  const { page, calm } = await open('one.html');
  const box = await page.locator('leeward-replicas canvas').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 30, { steps: 4 });
  await page.mouse.up();
  const p = await fragment(page);
  assert.ok(Number(p.get('from')) > 100_000 && Number(p.get('to')) < 900_000, p.toString());
  await page.keyboard.press('0');
  assert.equal((await fragment(page)).get('to'), null);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  assert.notEqual((await fragment(page)).get('to'), null);
  await page.getByRole('button', { name: 'Show the whole run' }).click();
  assert.equal((await fragment(page)).get('to'), null);
  await calm();
});

test('steps go from change to change, and the transcript keeps in step', async () => {
  const { page, calm } = await open('one.html');
  await page.getByRole('button', { name: 'Step to the next change' }).click();
  assert.equal(await clock(page), '00:05:00');
  await page.keyboard.press('.');
  await page.keyboard.press('.');
  assert.equal(await clock(page), '00:05:40');
  await page.waitForFunction(() => document.querySelector('.line.now .time')?.textContent === '00:05:40');
  await page.keyboard.press(',');
  assert.equal(await clock(page), '00:05:10');
  await page.getByRole('button', { name: 'Rewind to the start' }).click();
  assert.equal(await clock(page), '00:00:00');
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForFunction(() => document.querySelector('.clock')?.textContent !== '00:00:00');
  await page.getByRole('button', { name: 'Pause' }).click();
  await calm();
});

test('a click on a bar gives its reason, and its permalink opens the same view', async () => {
  const { page, calm } = await open('one.html');
  const row = await page.locator('.name', { hasText: 'on member2' }).boundingBox();
  const box = await page.locator('leeward-lanes canvas').boundingBox();
  const at = await page.evaluate(() => {
    const lanes = /** @type {any} */ (document.querySelector('leeward-lanes'));
    return (lanes.s.axis.at(350_000) - lanes.s.view.from) / (lanes.s.view.to - lanes.s.view.from);
  });
  assert.ok(row && box);
  await page.mouse.click(box.x + at * box.width, row.y + 8);
  const told = await reason(page);
  for (const part of ['default/nginx-deployment', 'on member2', 'eviction scheduled', 'cluster.karmada.io/not-ready:NoExecute', 'evict-when-not-ready', 'Ready=False', 'for 60s', '00:06:40', 'leeward explain binding nginx-deployment -n default']) assert.ok(told.includes(part), `${part} in ${told}`);
  await fragment(page);
  const { page: again, calm: calmAgain } = await open('one.html', { fragment: new URL(page.url()).hash });
  assert.equal(await reason(again), told);
  assert.equal(await clock(again), await clock(page));
  await calm();
  await calmAgain();
});

test('nodes and pods have lanes, a chart, filters, groups and reasons', async () => {
  const { page, calm } = await open('nodes.html', { fragment: '#at=120000' });
  for (const canvas of ['leeward-fleet canvas', 'leeward-replicas canvas', 'leeward-lanes canvas']) assert.ok((await painted(page, canvas)) > 100, canvas);
  assert.match(await text(page, 'leeward-fleet .gutter'), /Fleet 6 nodes/);
  assert.match(await text(page, 'leeward-replicas .gutter'), /Pods\s+running\s+8\s+ready\s+5\s+terminating\s+0\s+pending\s+0/);
  assert.equal(await text(page, '.count'), '10 of 10 pods');
  const legend = await text(page, '.legend');
  for (const word of ['running', 'not ready', 'terminating', 'taint NoExecute']) assert.ok(legend.includes(word), word);
  assert.ok(!/copy|cordoned|unschedulable/.test(legend), legend);
  await page.getByLabel('Filter by state').selectOption('countdown');
  assert.equal(await text(page, '.count'), '3 of 10 pods');
  assert.deepEqual((await names(page)).filter((n) => n.startsWith('a-')), [], 'the lanes of nodes are closed');
  await page.getByRole('button', { name: 'Clear search and filters' }).click();
  await page.getByLabel('Search pods and nodes').fill('db-1');
  assert.equal(await text(page, '.count'), '1 of 10 pods');
  await page.keyboard.press('Escape');
  const row = await page.locator('.name', { hasText: 'db-1' }).boundingBox();
  const box = await page.locator('leeward-lanes canvas').boundingBox();
  const at = await page.evaluate(() => (/** @type {any} */ (document.querySelector('leeward-lanes'))).s.axis.at(120_000));
  assert.ok(row && box);
  await page.mouse.click(box.x + at * box.width, row.y + 8);
  const told = await reason(page);
  for (const part of ['default/db-1', 'eviction scheduled', '00:01:00.050 to 00:06:00.050', 'a-2', 'node.kubernetes.io/unreachable:NoExecute', 'Ready=Unknown', 'for 300s', 'leeward explain pod default/db-1 -f']) assert.ok(told.includes(part), `${part} in ${told}`);
  await page.getByRole('button', { name: 'Clear search and filters' }).click();
  await page.getByLabel('Group pods').selectOption('zone');
  assert.equal((await fragment(page)).get('group'), 'zone');
  await page.locator('.name', { hasText: 'a-1' }).click();
  assert.match(await reason(page), /a-1[\s\S]*zone a[\s\S]*leeward explain node a-1 -f/);
  await calm();
});

test('the keyboard is enough: from search to the reason of a bar', async () => {
  const { page, calm } = await open('one.html');
  await page.keyboard.press('t');
  assert.equal(await page.evaluate(() => document.activeElement?.className), 'names');
  for (let i = 0; i < 30 && !(await text(page, '.name.focus')).includes('on member2'); i++) await page.keyboard.press('ArrowDown');
  for (let i = 0; i < 30 && !(await reason(page)).includes('evicting\n'); i++) await page.keyboard.press('ArrowRight');
  assert.match(await reason(page), /evicting[\s\S]*00:06:40 to 00:06:55 \(15s\)/);
  assert.match(await text(page, '[aria-live]'), /./);
  await page.keyboard.press('p');
  assert.deepEqual((await fragment(page)).getAll('pin'), ['w0']);
  assert.equal((await names(page))[0], 'Pinned');
  await page.keyboard.press('z');
  assert.notEqual((await fragment(page)).get('to'), null);
  await page.keyboard.press('l');
  assert.equal((await fragment(page)).get('axis'), 'clock');
  const outline = await page.locator('.names').evaluate((e) => getComputedStyle(e).outlineStyle);
  assert.equal(outline, 'solid', 'focus is visible');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  for (let i = 0; i < 40; i++) await page.keyboard.press('Tab');
  await calm();
});

test('several runs are a list, each of which opens', async () => {
  const { page, calm } = await open('several.html');
  assert.match(await page.locator('h1').innerText(), /^\d+ runs$/);
  await page.getByLabel('Search runs').fill('a-binding-remembers');
  await page.getByRole('link', { name: 'a-binding-remembers-its-failovers' }).click();
  await page.waitForSelector('leeward-lanes .name');
  assert.match((await fragment(page)).get('run') ?? '', /^\d+$/);
  await page.getByRole('link', { name: /^All/ }).click();
  await page.waitForSelector('main.index');
  await page.goBack();
  await page.waitForSelector('leeward-lanes .name');
  await calm();
});

test('a storm is a view of the page: strips with a cursor, waiting times, and the storm that it is compared with', async () => {
  const { page, calm } = await open('storm.html');
  assert.match(await page.locator('h1').innerText(), /1 of 3 clusters fail, all together ✗ failed/);
  const strips = page.getByRole('slider', { name: 'Throughput over time' });
  assert.ok((await painted(page, 'leeward-plot canvas')) > 1000);
  await strips.focus();
  await page.keyboard.press('ArrowRight');
  assert.match((await strips.getAttribute('aria-valuetext')) ?? '', /^150ms: evicted 30\/s \(30\/s, 30\/s\), placed 40\/s/);
  await page.getByLabel('Clock').selectOption('fleet');
  assert.match(await page.getByRole('region', { name: 'Waiting times in figures' }).innerText(), /released\s+4\s+0s\s+0s\s+0s\s+20s/);
  await page.getByLabel('Search clusters').fill('m3');
  assert.equal(await page.getByRole('region', { name: 'Load' }).locator('tbody tr').count(), 1);
  await innocent(page);
  const { page: again, calm: calmAgain } = await open('storm.html', { fragment: new URL(page.url()).hash });
  assert.equal(await again.getByLabel('Clock').inputValue(), 'fleet', 'the address has the view');
  assert.equal(await again.getByLabel('Search clusters').inputValue(), 'm3');
  await calm();
  await calmAgain();
});

test('a heat map leads to a contingency, and that to its lanes and back', async () => {
  const { page, calm } = await open('assess.html');
  assert.deepEqual(await page.locator('.rowname').allInnerTexts(), ['region eu', 'cluster eu-1'], 'the same clusters have one row, and what changes nothing has none');
  await page.getByRole('button', { name: 'losing region eu: all of it' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  assert.equal(new URL(page.url()).hash, '#of=cluster+eu-1&group=shop');
  assert.match(await page.locator('.chosen').innerText(), /Losing cluster eu-1[\s\S]*after 1m30s[\s\S]*namespace shop: 1 workload hit/);
  await page.getByRole('button', { name: /losing region eu, shop: .* 1 workload unavailable in the end/ }).click();
  assert.match(await page.locator('.chosen').innerText(), /2 replicas unschedulable[\s\S]*--lose region=eu/);
  await innocent(page);
  await page.getByRole('link', { name: /^Lanes of this outage/ }).click();
  await page.locator('.verdict', { hasText: 'predicted' }).waitFor();
  await page.getByRole('link', { name: 'All contingencies' }).click();
  await page.locator('.cell.rowname.selected', { hasText: 'region eu' }).waitFor();
  await calm();
});

test('verdicts of a shadow show both reasons', async () => {
  const { page, calm } = await open('shadow.html');
  assert.match(await page.locator('.example').innerText(), /eviction later[\s\S]*Leeward\s+2026-01-01 12:00:00Z leewardd on m1:2: <\/script>[\s\S]*the other\s+2026-01-01 12:01:00Z karmada-scheduler: <img/);
  await innocent(page);
  await page.getByLabel('Verdict').selectOption('never');
  await page.getByText('0 of 1 workload').waitFor();
  await calm();
});

test('words of users stay words, and the policy holds', async () => {
  for (const name of ['hostile.html', 'two.html', 'none.html']) {
    const { page, calm } = await open(name);
    if (name === 'two.html') await page.getByRole('link').first().click();
    if (name === 'hostile.html') assert.ok((await names(page)).some((n) => n.includes('<img src=x onerror=')));
    await innocent(page);
    await calm();
  }
});

test('the policy stops what is injected', async () => {
  const { page } = await open('one.html');
  await page.evaluate(async () => {
    const stopped = /** @type {string[]} */ ((/** @type {any} */ (window)).stopped = []);
    document.addEventListener('securitypolicyviolation', (e) => stopped.push(e.effectiveDirective));
    try {
      document.body.innerHTML = '<img src=x onerror=1>';
    } catch {
      stopped.push('markup');
    }
    const script = document.createElement('script');
    try {
      script.text = 'window.owned = 1';
      document.body.append(script);
    } catch {
      stopped.push('script');
    }
    await fetch('https://example.invalid/').catch(() => stopped.push('request'));
  });
  await page.waitForFunction(() => ['markup', 'script', 'request', 'connect-src'].every((s) => (/** @type {any} */ (window)).stopped.includes(s)));
  assert.equal(await page.evaluate(() => 'owned' in window), false);
  await page.context().close();
});

test('contrast, names and roles hold, light and dark, wide and on a phone', async () => {
  const phone = { width: 390, height: 844 };
  const ways = /** @type {const} */ ([['one.html', {}], ['one.html', { ...phone, dark: true }], ['nodes.html', {}], ['nodes.html', { ...phone, dark: true }], ['many.html', { dark: true }], ['many.html', phone], ['several.html', phone], ['storm.html', { ...phone, dark: true }], ['assess.html', { dark: true }], ['shadow.html', phone]]);
  await Promise.all(ways.map(async ([name, how]) => {
    const { page, calm } = await open(name, how);
    if (name === 'one.html' || name === 'many.html') await page.locator('.name.lane').first().click();
    assert.deepEqual(await barriers(page), [], `${name} ${JSON.stringify(how)}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `nothing is wider than the screen: ${name} by ${wide}`);
    await calm();
  }));
});

test('nothing jumps while a run is played', async () => {
  const { page, calm } = await open('one.html');
  const places = () => page.evaluate(() => ['.top', '.bar', 'leeward-fleet', 'leeward-replicas', 'leeward-lanes', 'aside'].map((s) => JSON.stringify(document.querySelector(s)?.getBoundingClientRect())).join());
  const before = await places();
  for (let i = 0; i < 8; i++) await page.keyboard.press('.');
  await drawn(page);
  assert.equal(await places(), before);
  await calm();
});

test('a thousand workloads scroll with few elements', async () => {
  const { page, calm } = await open('many.html', { fragment: '#group=none' });
  const scroller = page.locator('leeward-lanes .scroller');
  const before = await names(page);
  await scroller.evaluate((e) => { e.scrollTop = 12_000; });
  await page.waitForFunction((first) => document.querySelector('leeward-lanes .name .label')?.textContent !== first, before[0]);
  assert.ok((await names(page)).length < 60, 'only lanes that can be seen exist');
  assert.ok((await painted(page, 'leeward-lanes canvas')) > 1000);
  await calm();
});

test('thousands of pods on hundreds of nodes are groups that open, and scroll with few elements', async () => {
  const { page, calm } = await open('zones.html', { fragment: '#group=node' });
  const [zone] = await page.locator('.name.group', { hasText: 'a300' }).all();
  await zone.click();
  assert.ok((await names(page)).includes('a-1'));
  await page.locator('.name.section', { hasText: 'Nodes' }).click();
  await page.locator('.name.group', { hasText: 'a-1' }).first().click();
  assert.ok((await names(page)).some((n) => n.startsWith('app-')));
  await page.locator('leeward-lanes .scroller').evaluate((e) => { e.scrollTop = 9000; });
  await page.waitForFunction(() => !document.querySelector('leeward-lanes .name .label')?.textContent?.startsWith('Expect'));
  assert.ok((await names(page)).length < 60, 'only lanes that can be seen exist');
  await calm();
});
