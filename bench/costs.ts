import { median, quantile } from '../src/costs/robust.ts';
import type { SyntheticLine } from '../test/costs/synthetic.ts';
import {
  dayOverDay,
  falseAlarms,
  INJECTION_NAMES,
  type Injection,
  naive,
  type Rule,
  recall,
  recommended as recommendedTest,
  syntheticLines,
} from '../test/costs/synthetic-alarms.ts';
import {
  ELAPSED,
  type Elapsed,
  type Forecaster,
  type Guessed,
  guesses,
  lastTwoWeeks,
  lastWeek,
  recommended,
  runRate,
  SCENARIOS,
  type Scenario,
} from '../test/costs/synthetic-months.ts';

/** The back-tests of the cost maths on synthetic series: about a minute, the same every time. */
const SEED = 2026;
const LINES = 1_600;
const ORGANIZATIONS = 500;

interface Aim {
  readonly label: string;
  readonly seen: number;
  readonly aim: string;
  readonly met: boolean;
}

/** Medians of the absolute error in % of the month that were measured when this was designed. */
const FORECAST_AIMS: Readonly<Record<Scenario, Readonly<Record<Elapsed, number>>>> = {
  calm: { 3: 3.9, 7: 3.3, 12: 2.5, 18: 1.5, 24: 0.7 },
  'spike ×2.5': { 3: 3.4, 7: 2.8, 12: 2.0, 18: 1.4, 24: 0.6 },
  'shift +35 %': { 3: 7.0, 7: 6.0, 12: 4.2, 18: 2.7, 24: 1.3 },
};
/** Those figures have one decimal. */
const ROUNDING = 0.05;
const TOLERANCE = 1.1;

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
    `Unusual days: ${LINES} lines, 30 days after 56 of history; false alarms in 48 lines × 30 days,`,
    'recall in %.',
    columns([['', 'false alarms', ...INJECTION_NAMES], ...alarms.rows]),
    `\nForecast: ${ORGANIZATIONS} organisations of 12 lines; median / p90 of the absolute error in %`,
    'of the month, by days elapsed; behind it the share of months within the interval of 80 %.',
    columns([['', '', ...ELAPSED.map((day) => `day ${day}`)], ...forecasts.rows]),
    '',
    columns(aims),
  ].join('\n');
}

const RULES: readonly (readonly [string, Rule])[] = [
  ['day over day > 20 %', dayOverDay(0.2, 0)],
  ['day over day > 50 %, ≥ 2', naive],
  ['notice', recommendedTest('notice')],
  ['alert', recommendedTest('alert')],
];

function alarmTest() {
  const lines = syntheticLines(SEED, LINES);
  const scores = new Map(RULES.map(([name, rule]) => [name, scored(lines, rule)]));
  const rows = [...scores].map(([name, { alarms, found }]) => [
    name,
    alarms.toFixed(1),
    ...INJECTION_NAMES.map((injection) => (100 * found[injection]).toFixed(0)),
  ]);
  const alarmsOf = (name: string) => scores.get(name)?.alarms ?? Number.NaN;
  const recallOf = (injection: Injection) => 100 * (scores.get('notice')?.found[injection] ?? 0);
  const worse = alarmsOf('day over day > 50 %, ≥ 2') / alarmsOf('notice');
  const aims = [
    atMost('notice, false alarms', alarmsOf('notice'), 13),
    atMost('alert, false alarms', alarmsOf('alert'), 4),
    atLeast('recall of ×2', recallOf('×2'), 80),
    atLeast('recall of ×3', recallOf('×3'), 85),
    atLeast('recall of a drop', recallOf('drop to 0'), 95),
    atLeast('naive rule, times worse', worse, 10),
  ];
  return { rows, aims };
}

function scored(lines: readonly SyntheticLine[], rule: Rule) {
  const found = Object.fromEntries(
    INJECTION_NAMES.map((name) => [name, recall(SEED, lines, rule, name)]),
    // The names are all there are, which Object.fromEntries cannot tell.
  ) as Record<Injection, number>;
  return { alarms: falseAlarms(lines, rule), found };
}

const FORECASTERS: readonly (readonly [string, Forecaster])[] = [
  ['run rate', runRate],
  ['last 7 days', lastWeek],
  ['last 14 days', lastTwoWeeks],
  ['recommended', recommended],
];

function forecastTest() {
  const cells = SCENARIOS.flatMap((scenario) =>
    ELAPSED.map((elapsed) => ({
      scenario,
      elapsed,
      by: guesses(SEED, ORGANIZATIONS, scenario, elapsed),
    })),
  );
  const judged = cells.map(({ by, ...cell }) => ({ ...cell, guessed: by(recommended) }));
  const aims = judged.map(({ scenario, elapsed, guessed }) =>
    atMost(
      `forecast, ${scenario}, day ${elapsed}`,
      median(errorsOf(guessed)),
      (FORECAST_AIMS[scenario][elapsed] + ROUNDING) * TOLERANCE,
    ),
  );
  const rows = SCENARIOS.flatMap((scenario) =>
    FORECASTERS.map(([name, forecaster]) => [
      scenario,
      name,
      ...cells
        .filter((cell) => cell.scenario === scenario)
        .map(({ by }) => told(by(forecaster), forecaster === recommended)),
    ]),
  );
  return { rows, aims };
}

function told(guessed: readonly Guessed[], hasInterval: boolean): string {
  const errors = errorsOf(guessed);
  const within = guessed.filter((guess) => guess.within).length / guessed.length;
  const figures = `${median(errors).toFixed(1)} / ${quantile(errors, 0.9).toFixed(1)}`;
  return hasInterval ? `${figures} (${(100 * within).toFixed(0)} %)` : figures;
}

function errorsOf(guessed: readonly Guessed[]): readonly number[] {
  return guessed.map(({ error }) => 100 * error);
}

function atMost(label: string, seen: number, most: number): Aim {
  return { label, seen, aim: `≤ ${Number(most.toFixed(2))}`, met: seen <= most };
}

function atLeast(label: string, seen: number, least: number): Aim {
  return { label, seen, aim: `≥ ${least}`, met: seen >= least };
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
