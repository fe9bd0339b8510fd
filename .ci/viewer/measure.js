// Measures a page in a headless Chromium: node measure.js PAGE. Time until the first picture, and the frames while it scrolls.
import { readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';

const file = resolve(process.argv[2]);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.setDefaultTimeout(300_000);
const session = await page.context().newCDPSession(page);
await session.send('Performance.enable', { timeDomain: 'threadTicks' });
await page.goto(`file://${file}#group=none`);
await page.waitForSelector('leeward-lanes .name');
const { metrics } = await session.send('Performance.getMetrics');
const cpu = Math.round(1000 * (metrics.find((m) => m.name === 'TaskDuration')?.value ?? 0));
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
