import { formatDay } from '../base/calendar.ts';
import { addDays, type Day, dayNumber, dayOf } from '../base/time.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { countWords, textAnswer, utcStamp } from '../domain/answer.ts';
import { type CostAnomaly, isOver, mergeRelated } from '../maths/anomalies.ts';
import type { PriceList } from '../maths/money.ts';
import { priceNote } from '../maths/money.ts';
import { creditsText } from '../maths/numbers.ts';
import type { Database } from '../storage/engine/database.ts';
import {
  anomalyText,
  impactText,
  incidentButtons,
  incidentStateText,
  peakText,
  usualRangeText,
} from './anomaly-text.ts';
import { anomaliesSince, incidentId } from './incident-store.ts';
import { isWatchLate, readWatch, type WatchState } from './watch-state.ts';

const LISTED_DAYS = 30;
const BUTTONS_MAX = 5;

/** The answer of `/cost anomalies`: the incidents of the last 30 days, open ones first. */
export async function listAnomalies(context: {
  readonly database: Database;
  readonly prices: PriceList | null;
  readonly now: () => Date;
}): Promise<Answer> {
  const { prices } = context;
  const now = context.now();
  const { state } = await readWatch(context.database.db);
  if (!state) {
    const text = 'Nothing was scanned yet. The first scan runs one minute after the start.';
    return textAnswer('Unusual costs', text);
  }
  const since = addDays(dayOf(now), -LISTED_DAYS);
  const all = await anomaliesSince(context.database.db, addDays(since, -LISTED_DAYS));
  const shown = mergeRelated(all.filter((one) => isListed(one, since))).toSorted(byImportance);
  const open = shown.filter(({ incident }) => !isOver(incident));
  const parts: readonly AnswerPart[] = [
    ...open.slice(0, BUTTONS_MAX).flatMap((one) => openParts(one, prices)),
    ...(shown.length > 0 ? [tableOf(shown, prices), detailsMenu(shown)] : []),
    { kind: 'note', text: [lastScanText(state, now), ...noteOf(prices)].join(' ') },
  ];
  return { title: titleOf(open.length, state), parts };
}

function noteOf(prices: PriceList | null): readonly string[] {
  return prices ? [`${priceNote(prices)}.`] : [];
}

function isListed({ incident: { since, days } }: CostAnomaly, from: Day): boolean {
  return since >= from || (days.at(-1)?.day ?? since) >= from;
}

function byImportance(a: CostAnomaly, b: CostAnomaly): number {
  const over = Number(isOver(a.incident)) - Number(isOver(b.incident));
  return over || Math.abs(b.incident.impact) - Math.abs(a.incident.impact);
}

function titleOf(open: number, { lines }: WatchState): string {
  if (open === 0) return `Nothing unusual in ${countWords(lines, 'line')}`;
  return `${countWords(open, 'unusual line')} of ${lines}`;
}

function openParts(anomaly: CostAnomaly, prices: PriceList | null): readonly AnswerPart[] {
  const text = `${anomaly.name}: ${anomalyText(anomaly, prices)}`;
  return [{ kind: 'text', text }, incidentButtons(anomaly)];
}

function tableOf(shown: readonly CostAnomaly[], prices: PriceList | null): AnswerPart {
  return {
    kind: 'table',
    columns: ['Line', 'State', 'Worst day (UTC)', 'Credits', 'Usual', 'Total'],
    rows: shown.map((one) => [
      one.name,
      incidentStateText(one),
      { value: dayNumber(one.peak.day), text: formatDay(one.peak.day), isName: true },
      { value: one.peak.value, text: peakText(one.peak, prices, creditsText) },
      usualRangeText(one.peak, prices),
      { value: one.incident.impact, text: impactText(one, prices) },
    ]),
  };
}

function detailsMenu(shown: readonly CostAnomaly[]): AnswerPart {
  const choices = shown.map((one) => ({
    label: `${one.name}, ${formatDay(one.peak.day)}`,
    value: incidentId(one),
  }));
  return { kind: 'choices', id: 'incident.details', label: 'Show details…', choices };
}

/** The age of the last scan: "nothing unusual" is only meaningful together with it. */
function lastScanText(state: WatchState, now: Date): string {
  const late = isWatchLate(state, now) ? ' Since then, the usage report could not be read.' : '';
  const settled = formatDay(state.lastSettled);
  return `Last scan ${utcStamp(new Date(state.at))}, settled through ${settled}.${late} Days are UTC.`;
}
