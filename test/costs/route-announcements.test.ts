import { expect, test } from 'vitest';
import { digestReader } from '../../src/costs/config.ts';
import { judgeLine } from '../../src/costs/judge-lines.ts';
import { routeAnnouncements } from '../../src/costs/watch.ts';
import type { CostAnomaly } from '../../src/maths/anomalies.ts';
import { row } from '../maths/rows.ts';
import { at, line, steady } from './watched-line.ts';

const STAGING = { name: 'staging', id: 's-2', tags: ['dev'], warehouse: null, team: null };
const readOptions = digestReader([STAGING]);
const rows = [row({ entityId: 'e1' }), row({ entityId: 's-2' })];

function unusual(value: number): CostAnomaly {
  const watching = { first: at(50), last: at(50), minImpact: 2 };
  const [found] = judgeLine(line(steady(60, { 50: value })), [], watching).changed;
  return found ?? expect.fail('nothing was found');
}

const ALERT = unusual(40);
const NOTICE = { ...ALERT, incident: { ...ALERT.incident, tier: 'notice' as const } };
const DROP = unusual(0);
const OF_WAREHOUSE = { ...ALERT, entityId: 's-2', kind: 'warehouse' as const, serviceId: null };

/** The channels that get the announcement, one per digest. */
async function channelsFor(one: CostAnomaly, digests: readonly object[], isCommon = false) {
  const configured = digests.map((options, index) => {
    const reading = readOptions({ channel: `#c${index}`, ...options });
    return reading.ok ? reading.value : expect.fail(JSON.stringify(reading.problems));
  });
  const now = () => new Date('2026-11-20T12:00:00Z');
  const channels = async () =>
    configured.map((options) => ({ channel: options.channel, options, paused: false }));
  const context = { channels, services: () => [], now, prices: null };
  const day = at(50);
  const direction = one.incident.direction;
  const announcements = isCommon
    ? { alone: [], commonCauses: [{ day, direction, all: [one] }] }
    : { alone: [{ news: 'opened' as const, day, anomaly: one }], commonCauses: [] };
  const reports = await routeAnnouncements(context, announcements, rows);
  expect(reports.announced).toHaveLength(reports.all.length);
  return reports.all.map(({ channel }) => channel);
}

const low = { sensitivity: 'low' };
const high = { sensitivity: 'high' };

test.for<[string, CostAnomaly, readonly object[], readonly string[]]>([
  ['an alert goes to a digest of any sensitivity', ALERT, [low], ['#c0']],
  ['a notice waits for the digest', NOTICE, [{}], []],
  ['a notice is announced at once to a sensitive digest', NOTICE, [high], ['#c0']],
  ['a notice goes to the first sensitive digest', NOTICE, [low, {}, high], ['#c2']],
  ['a drop is announced at once to a sensitive digest', DROP, [high], ['#c0']],
  [
    'a drop is not announced to a digest of increases only',
    DROP,
    [{ ...high, increasesOnly: true }],
    [],
  ],
  [
    'an alert is not announced to a digest without that section',
    ALERT,
    [{ sections: ['figures'] }],
    [],
  ],
  [
    'an alert of a warehouse with the id of a service is not announced to the digest of the service',
    OF_WAREHOUSE,
    [{ on: { services: ['staging'] } }],
    [],
  ],
  ['an alert of another service is not announced', ALERT, [{ on: { services: ['staging'] } }], []],
])('%s', async ([, one, digests, channels]) => {
  expect(await channelsFor(one, digests)).toEqual(channels);
});

test('when most lines move, each channel that covers them is notified, whatever the severity', async () => {
  expect(await channelsFor(NOTICE, [low], true)).toEqual(['#c0']);
});
