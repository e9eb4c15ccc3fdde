import { expect, test } from 'vitest';
import { digestReader } from '../../src/costs/config.ts';
import { findAttention, gatherDigestData } from '../../src/costs/digest-data.ts';
import { storeAnomaly } from '../../src/costs/incidents.ts';
import { judgeLine } from '../../src/costs/judge-lines.ts';
import { writeState } from '../../src/costs/store.ts';
import type { CostAnomaly } from '../../src/maths/anomalies.ts';
import { transaction } from '../../src/storage/index.ts';
import { freshLog } from '../log/logs.ts';
import { digest, factsFor } from './facts.ts';
import { line, steady } from './watched-line.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const readOptions = digestReader([]);

/** A line of the report that cost this much on the last day but one, named as it stands there. */
function opened(entityId: string, value: number): CostAnomaly {
  const values = steady(80, { 79: value }).slice(10);
  const day = values.at(-1)?.day ?? '';
  const own = { id: `${entityId} x`, entityId, name: `${entityId} · compute` };
  const [found] = judgeLine(line(values, own), [], { first: day, last: day, minImpact: 2 }).changed;
  return found ?? expect.fail('nothing was found');
}

const UP = opened('s-1', 40);
const DOWN = opened('s-2', 0);
const OF_WAREHOUSE = { ...UP, line: 'warehouse s-1 x', kind: 'warehouse' as const, name: 'main' };

/** What the digest with these options names as unusual, and with which buttons. */
async function named(options: object) {
  const events = await freshLog('sqlite');
  const { store } = events;
  const at = NOW.toISOString();
  const state = { through: '2026-11-17', lastSettled: '2026-11-17', ranOn: '2026-11-20', at };
  await transaction(store, async (tx) => {
    await writeState(tx, 'cost-watch', JSON.stringify({ ...state, lines: 2, version: 1 }));
    for (const one of [UP, DOWN, OF_WAREHOUSE]) await storeAnomaly(tx, one, NOW);
  });
  const reading = readOptions({ channel: '#costs', ...options });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const common = { key: '#costs', id: null, channel: '#costs', paused: false, by: null };
  const one = { ...common, options: reading.value, since: null };
  const { read } = factsFor();
  const gathered = await gatherDigestData({
    store,
    events,
    costs: async () => read,
    organizationId: 'one',
    services: [],
    budgets: [],
    now: NOW,
  });
  const context = { store, events, now: () => NOW };
  const { anomalies } = await findAttention(context, one, gathered);
  return (anomalies ?? []).map(({ text, buttons }) => [
    text.split(' ')[0],
    buttons?.kind === 'actions' ? buttons.actions.map(({ label }) => label) : [],
  ]);
}

const BUTTONS = ['Expected', 'Mute 7 days', 'Details'];

test.for<[string, object, readonly string[]]>([
  ['of normal sensitivity names alerts and notices', {}, ['s-1', 's-2']],
  ['of high sensitivity does too', { sensitivity: 'high' }, ['s-1', 's-2']],
  ['of low sensitivity names alerts only', { sensitivity: 'low' }, ['s-1']],
  ['about increases names no drop', { increasesOnly: true }, ['s-1']],
  ['with a minimum names nothing below it', { minimumCredits: 20 }, ['s-1']],
])('a digest %s, each with its buttons', async ([, options, names]) => {
  expect(await named(options)).toEqual(names.map((name) => [name, BUTTONS]));
});

test('a digest of everything shows all budgets, a digest of a part those that notify its channel', async () => {
  const events = await freshLog('sqlite');
  const { store } = events;
  const { read } = factsFor();
  const budget = { credits: 9_000, on: null, notify: '#costs', thresholds: [50] };
  const on = {
    services: [{ name: 'staging', id: 's-2' }],
    tags: null,
    teams: null,
    warehouses: null,
  };
  const data = await gatherDigestData({
    store,
    events,
    costs: async () => read,
    organizationId: 'one',
    services: [],
    budgets: [
      { ...budget, name: 'month' },
      { ...budget, name: 'part', on, notify: '#other' },
    ],
    now: NOW,
  });
  const shown = async (of: typeof on | null) => {
    const one = digest({});
    const subscription = { ...one, options: { ...one.options, on: of } };
    const context = { store, events, now: () => NOW };
    const { budgets } = await findAttention(context, subscription, data);
    return budgets.map(({ name, isOwn }) => `${name}${isOwn ? ' of the digest' : ''}`);
  };
  expect(await shown(null)).toEqual(['month of the digest', 'part']);
  expect(await shown(on)).toEqual(['month']);
});
