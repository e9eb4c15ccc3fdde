import { expect, test } from 'vitest';
import { commonCauseDays, incidentKey, selectAnnouncements } from '../../src/costs/incidents.ts';
import { judgeLine, type LineJudgement } from '../../src/costs/judge-lines.ts';
import type { CostAnomaly } from '../../src/maths/anomalies.ts';
import { at, line, steady } from './watched-line.ts';

const SPIKE = { 50: 40 };

function judged(
  more: Parameters<typeof line>[1],
  days: readonly [number, number],
  but: Readonly<Record<number, number>> = SPIKE,
  known: readonly CostAnomaly[] = [],
): LineJudgement {
  const watching = { first: at(days[0]), last: at(days[1]), minImpact: 2 };
  return judgeLine(line(steady(60, but), more), known, watching);
}

function tell(all: readonly LineJudgement[], known: readonly CostAnomaly[] = []) {
  const now = new Map(known.map((one) => [incidentKey(one), one]));
  for (const { changed } of all) for (const one of changed) now.set(incidentKey(one), one);
  return selectAnnouncements(
    all.flatMap(({ found }) => found),
    [...now.values()],
    commonCauseDays(all),
  );
}

const TOTAL = { id: 'e1', metric: null, name: 'prod' };

test('a total that rises with its metric is one message, about the metric', () => {
  const { alone } = tell([judged(TOTAL, [50, 50]), judged({}, [50, 50])]);
  expect(alone.map(({ news, anomaly }) => [news, anomaly.name])).toEqual([
    ['opened', 'prod · compute'],
  ]);
});

test('a drop is a notice, which only sensitive digests announce at once', () => {
  const { alone } = tell([judged({}, [50, 50], { 50: 0 })]);
  expect(alone.map(({ anomaly: { incident } }) => [incident.direction, incident.tier])).toEqual([
    ['down', 'notice'],
  ]);
});

test('only the end of a reported anomaly is reported', () => {
  const opened = judged({}, [50, 50]).changed;
  const announced = opened.map((one) => ({ ...one, announced: 'alone' as const }));
  const over = (known: readonly CostAnomaly[]) => tell([judged({}, [51, 53], SPIKE, known)], known);
  expect(over(announced).alone.map(({ news }) => news)).toEqual(['resolved']);
  expect(over(opened).alone).toEqual([]);
});

test('an anomaly that began and ended between two scans is not reported', () => {
  expect(tell([judged({}, [49, 55])]).alone).toEqual([]);
});

test('when most lines rise on one day there is one message for all of them', () => {
  const many = Array.from({ length: 8 }, (_, index) =>
    judged({ id: `e${index} computeCredits`, entityId: `e${index}` }, [50, 50]),
  );
  const { alone, commonCauses } = tell(many);
  expect(alone).toEqual([]);
  expect(commonCauses.map(({ day, direction, all }) => [day, direction, all.length])).toEqual([
    [at(50), 'up', 8],
  ]);
});

test('the ends of many anomalies are not reported one by one', () => {
  const known = judged({}, [50, 50]).changed.map((one) => ({
    ...one,
    announced: 'crowd' as const,
  }));
  expect(tell([judged({}, [51, 53], SPIKE, known)], known).alone).toEqual([]);
});
