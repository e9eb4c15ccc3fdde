import { expect, test } from 'vitest';
import { readAlertReport } from '../../src/servers/alert-webhook.ts';

const NOW = new Date('2026-11-20T14:05:00Z');
const MINUTE = 60_000;

/** What the template of docs/alerts.md sends: every value in quotes, empty where the alert has none. */
const BODY = {
  ...{ alert: '357fc488efc4a66bb2a8f81a', event: 'e1', group: 'checkout', status: 'firing' },
  ...{ state: 'ALERT', title: '5xx rate', value: '512', comparator: '>', threshold: '100' },
  ...{ thresholdMax: '', service: '', at: String(NOW.getTime() - MINUTE) },
};

const read = (changes: Readonly<Record<string, unknown>> = {}) =>
  readAlertReport(JSON.stringify({ ...BODY, ...changes }), NOW);

test('a report has the state, the value, the threshold and the time of its window', () => {
  expect(read()).toEqual({
    ok: true,
    report: {
      ...{ id: BODY.alert, alert: BODY.alert, group: 'checkout', service: null, name: '5xx rate' },
      ...{ state: 'firing', value: '512', threshold: 'above 100', at: NOW.getTime() - MINUTE },
    },
  });
});

test.for<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['resolved', { status: 'resolved' }, { state: 'ok' }],
  ['no data', { status: 'no_data' }, { state: 'no data' }],
  ['a state without a status', { status: '', state: 'OK' }, { state: 'ok' }],
  ['numbers without quotes', { value: 7, threshold: 5 }, { value: '7', threshold: 'above 5' }],
  ['a range', { comparator: 'between', thresholdMax: '9' }, { threshold: 'between 100 and 9' }],
  ['at least', { comparator: '>=' }, { threshold: 'above or equal 100' }],
  ['a member of objects', { comparator: 'constructor' }, { threshold: 'constructor 100' }],
  ['no threshold', { threshold: '' }, { threshold: null }],
  ['no alert id', { alert: '' }, { id: 'e1', alert: null }],
  ['an alert id that is no word', { alert: 'a b' }, { id: 'a b', alert: null }],
  ['no title', { title: '' }, { name: `Alert ${BODY.alert}` }],
  ['a time as text', { at: '2026-11-20T14:00:00Z' }, { at: NOW.getTime() - 5 * MINUTE }],
  ['no time: the arrival', { at: '' }, { at: NOW.getTime() }],
  ['a clock that is ahead', { at: String(NOW.getTime() + MINUTE) }, { at: NOW.getTime() }],
  ['several lines and unseen characters', { title: 'a\n\u202eb\u0000' }, { name: 'a b' }],
  ['a long title', { title: '😀'.repeat(500) }, { name: '😀'.repeat(120) }],
  ['more fields', { extra: { deep: [1] } }, { name: '5xx rate' }],
])('a report with %s', ([, changes, expected]) => {
  expect(read(changes)).toMatchObject({ ok: true, report: expected });
});

test.for<[string, string | Record<string, unknown>]>([
  ['no JSON', '{"alert":'],
  ['a list', '[]'],
  ['null', 'null'],
  ['an object as a title', { title: {} }],
  ['a title of megabytes', { title: 'x'.repeat(20_000) }],
  ['an unknown status', { status: 'exploded' }],
  ['a status of every object', { status: '__proto__' }],
  ['no id', { alert: '', event: '' }],
  ['a time of two days ago', { at: String(NOW.getTime() - 2 * 1440 * MINUTE) }],
  ['a time of next year', { at: '2027-11-20T14:00:00Z' }],
  ['a time that is none', { at: 'soon' }],
])('a body with %s is refused, and the reason quotes nothing of it', ([, body]) => {
  const reading = typeof body === 'string' ? readAlertReport(body, NOW) : read(body);
  expect(reading).toMatchObject({ ok: false, why: expect.stringMatching(/^[\w ,]+$/) });
});
