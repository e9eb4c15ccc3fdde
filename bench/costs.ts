import { ALARM_HEAD, ALARM_TITLE, alarmTest } from './costs-alarms.ts';
import { EFFECT_HEAD, EFFECT_TITLE, effectTest } from './costs-effects.ts';
import { FORECAST_HEAD, FORECAST_TITLE, forecastTest } from './costs-forecasts.ts';

/** The back-tests of the cost maths on synthetic series: under a minute, the same every time. */
export function backTests(): string {
  const alarms = alarmTest();
  const forecasts = forecastTest();
  const aims = [...alarms.aims, ...forecasts.aims].map(({ label, seen, aim, met }) => [
    label,
    seen.toFixed(seen < 10 ? 2 : 1),
    aim,
    met ? 'met' : 'missed',
  ]);
  return [
    `${ALARM_TITLE}\n\n${columns([ALARM_HEAD, ...alarms.rows])}`,
    `${FORECAST_TITLE}\n\n${columns([FORECAST_HEAD, ...forecasts.rows])}`,
    `${EFFECT_TITLE}\n\n${columns([EFFECT_HEAD, ...effectTest()])}`,
    columns(aims),
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
