// Opens pages in a headless Chromium. A page that logs an error, asks for anything or breaks its policy fails its test.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Where .ci/viewer/run has written the pages, and the browser. */
const pages = process.env.PAGES ?? '';
const executablePath = process.env.CHROMIUM ?? '';

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

export const close = () => browser.close();

/** @typedef {{fragment?: string, width?: number, height?: number, dark?: boolean}} How */

/** A page of a run, or of several. @param {string} name @param {How} [how] */
export function open(name, how = {}) {
  const address = `file://${join(pages, name)}`;
  return visit(address + (how.fragment ?? ''), address, 'leeward-lanes .name, main.index, main.report', how);
}

/**
 * A page in a window of its own. What it logs, throws and violates, and what it asks for that does not begin with own, is told by calm, which must find
 * nothing in the end.
 * @param {string} address
 * @param {string} own
 * @param {string} ready what there is once it can be used
 * @param {How} [how]
 */
export async function visit(address, own, ready, how = {}) {
  const context = await browser.newContext({ viewport: { width: how.width ?? 1280, height: how.height ?? 800 }, colorScheme: how.dark ? 'dark' : 'light', bypassCSP: false, ignoreHTTPSErrors: true });
  const page = await context.newPage();
  /** @type {string[]} */
  const trouble = [];
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) trouble.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => trouble.push(`error: ${e.message}`));
  page.on('dialog', (d) => { trouble.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith(own) && !r.url().startsWith('blob:')) trouble.push(`request: ${r.url()}`); });
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  await page.goto(address);
  await page.waitForSelector(ready);
  return { page, trouble, calm: async () => {
    assert.deepEqual(trouble, []);
    await context.close();
  } };
}

/** What a page violates of what is asked of pages for all users. @param {import('playwright-core').Page} page */
export async function barriers(page) {
  const session = await page.context().newCDPSession(page); // not bound by the policy of the page
  await session.send('Runtime.evaluate', { expression: axe });
  return page.evaluate(async () => (await /** @type {any} */ (window).axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] })).violations
    .map((/** @type {any} */ v) => `${v.id}: ${v.nodes.slice(0, 3).map((/** @type {any} */ n) => n.html).join(' ')}`));
}

/** Waits until the page has drawn what it was told before: a change is drawn in the next frame. @param {import('playwright-core').Page} page */
export const drawn = (page) => page.evaluate(async () => { for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); });

/** Pixels of a canvas that differ from its first one: something is painted. @param {import('playwright-core').Page} page @param {string} selector */
export const painted = (page, selector) => page.locator(selector).first().evaluate((c) => {
  const canvas = /** @type {HTMLCanvasElement} */ (c);
  const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 4; i < data.length; i += 4) if (data[i] !== data[0] || data[i + 1] !== data[1] || data[i + 3] !== data[3]) count++;
  return count;
});
