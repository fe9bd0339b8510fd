// Measures a page in a headless Chromium. node measure.js PAGE: time until the first picture of a run, and the frames while it scrolls.
// node measure.js "$(leewardd ui --open)": time until the lanes of a live page are there, and what it costs for the next 20 s.
import { readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';

const file = resolve(process.argv[2]);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ignoreHTTPSErrors: true });
page.setDefaultTimeout(300_000);
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable', { timeDomain: 'threadTicks' });
/** What the main thread has worked, in seconds. */
const worked = async () => (await session.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')?.value ?? 0;
if (process.argv[2].startsWith('https://')) {
  const began = performance.now();
  await page.goto(process.argv[2]);
  await page.waitForSelector('leeward-lanes .name');
  const lanes = Math.round(performance.now() - began);
  const before = await worked();
  await page.waitForTimeout(20_000);
  console.table({ 'until there are lanes, ms': lanes, 'main thread until then, CPU ms': Math.round(1000 * before), 'main thread, % of a core': (100 * (await worked() - before)) / 20, clusters: await page.locator('.live [data-select^="c:"]').count() });
  await browser.close();
  process.exit();
}
await page.goto(`file://${file}#group=none`);
await page.waitForSelector('leeward-lanes .name');
const cpu = Math.round(1000 * await worked());
const figures = await page.evaluate(async () => {
  const [shown] = performance.getEntriesByName('leeward-shown');
  const frame = () => new Promise(requestAnimationFrame);
  const lanes = /** @type {any} */ (document.querySelector('leeward-lanes'));
  const scroller = lanes.querySelector('.scroller');
  const draw = lanes.draw.bind(lanes);
  /** @type {number[]} */
  const draws = [];
  lanes.draw = () => {
    const t = performance.now();
    draw();
    draws.push(performance.now() - t);
  };
  /** @type {number[]} */
  const frames = [];
  let last = Number(await frame());
  for (let i = 0; i < 240; i++) {
    scroller.scrollTop += 130;
    const now = Number(await frame());
    frames.push(now - last);
    last = now;
  }
  const at = (/** @type {number[]} */ list, /** @type {number} */ share) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)];
  const whole = performance.now();
  lanes.s.filterBy({ query: 'app-77' });
  const search = performance.now() - whole;
  return { 'first picture, ms': Math.round(shown.startTime), 'frame, median ms': at(frames, 0.5), 'frame, 99 % ms': at(frames, 0.99), 'lanes drawn, median ms': at(draws, 0.5), 'lanes drawn, 99 % ms': at(draws, 0.99), 'search, ms': search, 'heap, MB': Math.round((/** @type {any} */ (performance).memory?.usedJSHeapSize ?? 0) / 1e6) };
});
await browser.close();
const packed = gzipSync(readFileSync(file)).length;
console.table({ 'page, bytes': statSync(file).size, 'page compressed again, bytes': packed, 'main thread until then, CPU ms': cpu, ...figures });
