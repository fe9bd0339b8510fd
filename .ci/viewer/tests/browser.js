// Opens pages in a headless Chromium. A page that logs an error, asks for anything or breaks its policy fails its test.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { join } from 'node:path';

/** Where .ci/viewer/run has written the pages, and the browser. */
const pages = process.env.PAGES ?? '';
const executablePath = process.env.CHROMIUM ?? '';

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

export const close = () => browser.close();

/**
 * A page in a window of its own. What it logs, throws, asks for and violates is told by trouble, which must be empty in the end.
 * @param {string} name
 * @param {{fragment?: string, width?: number, height?: number, dark?: boolean}} [how]
 */
export async function open(name, how = {}) {
  const context = await browser.newContext({ viewport: { width: how.width ?? 1280, height: how.height ?? 800 }, colorScheme: how.dark ? 'dark' : 'light', bypassCSP: false });
  const page = await context.newPage();
  /** @type {string[]} */
  const trouble = [];
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) trouble.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => trouble.push(`error: ${e.message}`));
  page.on('dialog', (d) => { trouble.push(`dialog: ${d.message()}`); void d.dismiss(); });
  const address = `file://${join(pages, name)}`;
  page.on('request', (r) => { if (!r.url().startsWith(address) && !r.url().startsWith('blob:')) trouble.push(`request: ${r.url()}`); });
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  await page.goto(address + (how.fragment ?? ''));
  await page.waitForSelector('leeward-lanes .name, main.index');
  return { page, calm: async () => {
    assert.deepEqual(trouble, []);
    await context.close();
  } };
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
