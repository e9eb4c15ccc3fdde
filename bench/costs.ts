import { ALARM_HEAD, ALARM_TITLE, alarmTest } from './costs-alarms.ts';
import { EFFECT_HEAD, EFFECT_TITLE, effectTest } from './costs-effects.ts';
import { FORECAST_HEAD, FORECAST_TITLE, forecastTest } from './costs-forecasts.ts';
import {
  LATE_FORECAST_HEAD,
  LATE_FORECAST_TITLE,
  LOCK_AGE_HEAD,
  LOCK_AGE_TITLE,
  lateForecastTest,
  lockAgeTest,
} from './costs-lock-ages.ts';
import { LONG_HEAD, LONG_TITLE, longSpanTest } from './costs-long-spans.ts';
import { transportTest } from './transport.ts';

const SERVICES = [2_000, 6_500];

/** The back-tests of the cost maths on synthetic series, and the transport of large reports. */
export async function costMeasurements(): Promise<string> {
  return `${backTests()}\n\n${await transportTest(SERVICES)}`;
}

/** About two minutes, with the same figures every time. */
function backTests(): string {
  const alarms = alarmTest();
  const forecasts = forecastTest();
  const late = lockAgeTest();
  const missed = late.aims.filter(({ met }) => !met);
  const aims = [...alarms.aims, ...forecasts.aims, ...missed].map(({ label, seen, aim, met }) => [
    label,
    seen.toFixed(seen < 10 ? 2 : 1),
    aim,
    met ? 'met' : 'missed',
  ]);
  return [
    `${ALARM_TITLE}\n\n${columns([ALARM_HEAD, ...alarms.rows])}`,
    `${FORECAST_TITLE}\n\n${columns([FORECAST_HEAD, ...forecasts.rows])}`,
    `${EFFECT_TITLE}\n\n${columns([EFFECT_HEAD, ...effectTest()])}`,
    `${LOCK_AGE_TITLE}\n\n${columns([LOCK_AGE_HEAD, ...late.rows])}`,
    `${LATE_FORECAST_TITLE}\n\n${columns([LATE_FORECAST_HEAD, ...lateForecastTest()])}`,
    `${LONG_TITLE}\n\n${columns([LONG_HEAD, ...longSpanTest()])}`,
    columns(aims),
    `Aims at all lock ages: ${late.aims.length - missed.length} of ${late.aims.length} met`,
  ].join('\n\n');
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
