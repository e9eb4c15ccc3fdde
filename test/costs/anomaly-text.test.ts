import { expect, test } from 'vitest';
import { anomalyLine, anomalyMessage, commonCauseMessage } from '../../src/costs/incidents.ts';
import type { CostAnomaly } from '../../src/maths/anomalies.ts';
import type { PriceList } from '../../src/maths/money.ts';
import { written } from './written.ts';

const PRICES: PriceList = [
  { from: '2026-01-01', currency: 'EUR', perCredit: 320_000 },
  { from: '2026-11-13', currency: 'EUR', perCredit: 350_000 },
];

/** Unusual on 12 November (49 credits too much) and 13 November (10), usual on the 14th. */
const anomaly: CostAnomaly = {
  line: 'e1 compute',
  entityId: 'e1',
  entityName: 'analytics-dev',
  kind: 'service',
  serviceId: 'e1',
  name: 'analytics-dev · compute',
  metric: 'computeCredits',
  incident: {
    state: 'open',
    direction: 'up',
    tier: 'alert',
    since: '2026-11-12',
    days: [
      { day: '2026-11-12', settled: true, unusual: true, excess: 49 },
      { day: '2026-11-13', settled: true, unusual: true, excess: 10 },
      { day: '2026-11-14', settled: true, unusual: false, excess: 1 },
    ],
    impact: 59,
    reportedImpact: 59,
    mutedUntil: null,
  },
  peak: { day: '2026-11-12', value: 61.2, range: { low: 9.8, expected: 12, high: 15.3 } },
  announced: 'alone',
};

test('an anomaly without prices is in credits', () => {
  expect(anomalyLine(anomaly, null)).toBe(
    'analytics-dev · compute 61.2 on Thu 12 Nov, usual 9.8–15.3; +59.0 in total, open since Thu 12 Nov',
  );
});

// 61.2, 9.8 and 15.3 at 0.32; 49 · 0.32 + 10 · 0.35 in total.
test('with prices, the worst day, the usual range and the total have money', () => {
  expect(anomalyLine(anomaly, PRICES)).toBe(
    'analytics-dev · compute 61.2 (€19.58) on Thu 12 Nov, usual 9.8–15.3 (€3.14–€4.90); ' +
      '+59.0 (+€19.18) in total, open since Thu 12 Nov',
  );
  const message = { news: 'opened', day: '2026-11-12', anomaly } as const;
  expect(written(anomalyMessage(message, PRICES))).toContain(
    '61.2 credits (€19.58) on Thu 12 Nov (UTC), usually 9.8–15.3 (€3.14–€4.90). ' +
      '+59.0 credits (+€19.18) in total',
  );
  const end = { ...message, news: 'resolved' } as const;
  expect(written(anomalyMessage(end, PRICES))).toContain('+59.0 credits (+€19.18) in total.');
  const cause = { day: '2026-11-12', direction: 'up', all: [anomaly] } as const;
  expect(written(commonCauseMessage(cause, PRICES))).toContain('61.2 (€19.58)');
});
