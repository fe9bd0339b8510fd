import test from 'node:test';
import assert from 'node:assert/strict';
import { axisTicks, clockAxis, clockText, eventAxis, lowerBound, numberText, roundUp, slideView, spanText, viewBetween, zoomView } from '../../../runtime/report/viewer/scale.js';

const hours = [0, 1000, 2000, 3600_000];

test('an axis to scale goes by the clock, and ends where the run does', () => {
  const a = clockAxis(4000);
  assert.equal(a.at(1000), 0.25);
  assert.equal(a.at(9000), 1);
  assert.equal(a.instant(0.5), 2000);
});

test('a second of an hour has some width by event, and the rest goes by the clock', () => {
  const a = eventAxis(hours, 3600_000);
  assert.equal(a.at(0), 0);
  assert.ok(Math.abs(a.at(1000) - 1 / 6) < 1e-3);
  assert.ok(Math.abs(a.at(500) - a.at(1000) / 2) < 1e-9);
  assert.equal(a.at(3600_000), 1);
  for (let t = 0; t < 3600; t++) assert.ok(a.at(t * 1000) < a.at((t + 1) * 1000), `time goes on at ${t}s`);
});

test('the instant of a place is the inverse of the place of an instant', () => {
  const a = eventAxis(hours, 3600_000);
  for (const t of [0, 1, 999, 1000, 1500, 60_000, 3600_000]) assert.ok(Math.abs(a.instant(a.at(t)) - t) < 0.1, `at ${t}`);
});

test('a run without length has an axis', () => {
  const a = eventAxis([0], 0);
  assert.equal(a.at(0), 0);
  assert.ok(Number.isFinite(a.instant(0.5)));
});

test('zoom keeps the place below the pointer, and stays within the run', () => {
  const v = zoomView({ from: 0, to: 1 }, 0.5, 0.25);
  assert.deepEqual(v, { from: 0.125, to: 0.625 });
  assert.deepEqual(zoomView(v, 100, 0.3), { from: 0, to: 1 });
  const deep = Array.from({ length: 99 }).reduce((w) => zoomView(w, 0.1, 0.5), { from: 0, to: 1 });
  assert.ok(deep.to > deep.from && deep.to - deep.from >= 0.99e-6, 'a view is never empty');
});

test('a view slides to the edge and no further, and a brush may be drawn backwards', () => {
  assert.deepEqual(slideView({ from: 0.5, to: 0.75 }, 9), { from: 0.75, to: 1 });
  assert.deepEqual(slideView({ from: 0.5, to: 0.75 }, -1), { from: 0.25, to: 0.5 });
  assert.deepEqual(viewBetween(0.75, 0.25), { from: 0.25, to: 0.75 });
  const empty = viewBetween(1, 1);
  assert.ok(empty.to > empty.from && empty.to <= 1);
});

test('ticks are round to scale, and those of events otherwise, with space for words', () => {
  const c = clockAxis(3600_000);
  assert.deepEqual(axisTicks(c, { from: 0, to: 1 }, hours, 0.2), [0, 900_000, 1800_000, 2700_000, 3600_000]);
  const e = eventAxis(hours, 3600_000);
  assert.deepEqual(axisTicks(e, { from: 0, to: 1 }, hours, 0.25), [0, 2000, 3600_000]);
  assert.ok(axisTicks(clockAxis(90 * 864e5), { from: 0, to: 1 }, [], 0.1).length <= 11, 'of months, too');
});

test('instants, lengths and numbers are written as timelines write them', () => {
  assert.equal(clockText(400_000), '00:06:40');
  assert.equal(clockText(250), '00:00:00.250');
  assert.equal(clockText(90_000_000), '25:00:00');
  for (const [ms, want] of [[0, '0ms'], [999, '999ms'], [15_000, '15s'], [25_850, '25.85s'], [340_000, '5m40s'], [7200_000, '2h']]) assert.equal(spanText(Number(ms)), want);
  assert.equal(numberText(1234567), '1\u202f234\u202f567');
  for (const [n, want] of [[0, 1], [1, 1], [3500, 4000], [70, 80], [101, 120]]) assert.equal(roundUp(Number(n)), want);
});

test('the lower bound is the first that is not below', () => {
  assert.deepEqual([0, 5, 6, 99].map((t) => lowerBound([5, 5, 7], t)), [0, 0, 2, 3]);
});
