import type { SyntheticLine } from '../test/maths/synthetic.ts';
import {
  dayOverDay,
  falseAlarms,
  INJECTION_NAMES,
  type Injection,
  naive,
  type Rule,
  recall,
  recommended,
  syntheticLines,
} from '../test/maths/synthetic-alarms.ts';
import { atLeast, atMost, SEED } from './costs-aim.ts';

const LINES = 1_600;

export const ALARM_TITLE =
  `Unusual days: ${LINES} lines, 30 days after 56 of history. False alarms in 48 lines × 30 days; ` +
  'recall in %.';
export const ALARM_HEAD = ['', 'false alarms', ...INJECTION_NAMES];

const RULES: readonly (readonly [string, Rule])[] = [
  ['day over day > 20 %', dayOverDay(0.2, 0)],
  ['day over day > 50 %, ≥ 2', naive],
  ['notice', recommended('notice')],
  ['alert', recommended('alert')],
];

export function alarmTest() {
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
