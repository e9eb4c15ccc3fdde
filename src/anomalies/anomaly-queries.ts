import { budgetFacts } from '../budgets/budget-text.ts';
import { budgetSpan, budgetStanding } from '../budgets/budgets.ts';
import { footer, nothingRead } from '../cost-reports/summary.ts';
import { isOver } from '../costs/anomaly/incident.ts';
import { once, type Unusual } from '../costs/anomaly/unusual.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import { dayLabel, spanLabel } from '../costs/calendar/span-label.ts';
import { creditsText, signedFigure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/counted.ts';
import type { AnomalyQueries } from '../intent/ports/command-context.ts';
import type { AnomalyContext } from './anomaly-run.ts';
import { deedsOf, incidentStateText, unusualText, usualText } from './anomaly-text.ts';
import { backtest } from './backtest.ts';
import { unusualSince } from './incident-store.ts';
import { riseLine, type SlowRises, storedRises } from './slow-rises.ts';
import { readWatch, type WatchState } from './watch-state.ts';

const LISTED_DAYS = 30;
const BUTTONS_MAX = 5;
const LATE_MS = 36 * 3_600_000;

export function createAnomalyQueries(context: AnomalyContext): AnomalyQueries {
  return {
    anomalies: () => anomalies(context),
    backtest: (days) => backtest(context, days),
    budgets: () => budgets(context),
  };
}

async function anomalies(context: AnomalyContext): Promise<Answer> {
  const now = context.now();
  const { state } = await readWatch(context.database.db);
  if (!state) {
    const text = 'Costs are first looked at a minute after the start. Nothing was found yet.';
    return { title: 'Unusual costs', parts: [{ kind: 'text', text }] };
  }
  const since = addDays(dayOf(now), -LISTED_DAYS);
  const all = await unusualSince(context.database.db, addDays(since, -LISTED_DAYS));
  const shown = once(all.filter((one) => isListed(one, since))).toSorted(byImportance);
  const rises = await storedRises(context.database.db);
  const open = shown.filter(({ incident }) => !isOver(incident));
  const parts: readonly AnswerPart[] = [
    ...open.slice(0, BUTTONS_MAX).flatMap(openParts),
    ...(shown.length > 0 ? [tableOf(shown)] : []),
    ...risesPart(rises),
    { kind: 'note', text: lookedText(state, now) },
  ];
  return { title: titleOf(open.length, state), parts };
}

function risesPart(rises: SlowRises | null): readonly AnswerPart[] {
  if (!rises || rises.all.length === 0) return [];
  const lines = rises.all.map((rise) => `• ${riseLine(rise)}`);
  return [{ kind: 'text', text: [`Through ${dayLabel(rises.through)}:`, ...lines].join('\n') }];
}

function isListed({ incident: { since, days } }: Unusual, from: Day): boolean {
  return since >= from || (days.at(-1)?.day ?? since) >= from;
}

function byImportance(a: Unusual, b: Unusual): number {
  const over = Number(isOver(a.incident)) - Number(isOver(b.incident));
  return over || Math.abs(b.incident.impact) - Math.abs(a.incident.impact);
}

function titleOf(open: number, { lines }: WatchState): string {
  if (open === 0) return `Nothing unusual in ${countWords(lines, 'line')}`;
  return `${countWords(open, 'unusual line')} of ${lines}`;
}

function openParts(unusual: Unusual): readonly AnswerPart[] {
  return [{ kind: 'text', text: `${unusual.name}: ${unusualText(unusual)}` }, deedsOf(unusual)];
}

function tableOf(shown: readonly Unusual[]): AnswerPart {
  return {
    kind: 'table',
    columns: ['Line', 'State', 'Worst day (UTC)', 'Credits', 'Usual', 'In all'],
    rows: shown.map((one) => [
      one.name,
      incidentStateText(one),
      one.peak.day,
      { value: one.peak.value, text: creditsText(microOf(one.peak.value)) },
      usualText(one.peak.range).replace('usual ', ''),
      { value: one.incident.impact, text: signedFigure(microOf(one.incident.impact)) },
    ]),
  };
}

/** Calm is only worth something together with when it was looked for last. */
function lookedText({ at, lastFinal }: WatchState, now: Date): string {
  const isLate = now.getTime() - Date.parse(at) > LATE_MS;
  const late = isLate ? 'Since then the usage report could not be judged. ' : '';
  const stamp = at.slice(0, 16).replace('T', ' ');
  return `${late}Last looked ${stamp} UTC, final through ${dayLabel(lastFinal)}. Days are UTC.`;
}

async function budgets(context: AnomalyContext): Promise<Answer> {
  const today = dayOf(context.now());
  if (context.budgets.length === 0) {
    const text = 'signalbox.yaml names no budgets. Whoever looks after it can add one.';
    return { title: 'No budgets', parts: [{ kind: 'text', text }] };
  }
  const read = await context.costs(budgetSpan(today));
  if (read.rows.length === 0) return nothingRead('Budgets', read);
  const services = context.services();
  const parts = context.budgets.flatMap((budget): readonly AnswerPart[] => {
    const standing = budgetStanding(budget, read.rows, services, today);
    return [
      { kind: 'text', text: budget.name },
      { kind: 'facts', facts: budgetFacts(standing) },
    ];
  });
  return {
    title: `Budgets · ${spanLabel({ first: `${today.slice(0, 7)}-01`, last: today }, today)} (UTC)`,
    parts: [...parts, { kind: 'note', text: footer(read) }],
  };
}
