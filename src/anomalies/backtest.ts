import { footerPart, noDataAnswer } from '../cost-reports/summary.ts';
import { minImpactOf } from '../costs/anomaly/anomaly.ts';
import { type AnomalyPost, replay } from '../costs/anomaly/watch.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import { formatSpan } from '../costs/calendar/format.ts';
import { entityKey } from '../costs/ledger/row.ts';
import { seriesOf } from '../costs/ledger/series-of-rows.ts';
import type { Answer } from '../intent/answers/answer.ts';
import { countWords, textAnswer } from '../intent/answers/texts.ts';
import { scanSpan } from './anomaly-scan.ts';
import type { AnomalyContext } from './anomaly-watch.ts';
import { type WatchedLine, watchedLines } from './watched-lines.ts';

/** One line of one day takes 0.1 ms, during which the process serves no other request. */
const REPLAYED_MAX = 40_000;

/** The answer of `/cost anomalies backtest`: what the watch would have posted in these days. */
export async function backtest(
  context: Pick<AnomalyContext, 'costs' | 'now'>,
  days: number,
): Promise<Answer> {
  const today = dayOf(context.now());
  const [first, last] = [addDays(today, -days), addDays(today, -1)];
  const label = formatSpan({ first, last }, today);
  const read = await context.costs(scanSpan(first, last));
  if (read.rows.length === 0 || read.gaps.length > 0) return noDataAnswer(label, read);

  const span = scanSpan(first, last);
  const minImpact = minImpactOf(seriesOf(read.rows, {}, span));
  const lines = watchedLines(read.rows, span, minImpact);
  if (lines.length * days > REPLAYED_MAX) {
    const text = `The backtest covers at most ${REPLAYED_MAX} days of lines. Choose fewer days.`;
    return textAnswer(`Too many days for ${countWords(lines.length, 'line')}`, text);
  }
  const postings = withoutTotals(
    replay(
      lines.map(({ id, values }) => ({ id, series: values })),
      first,
      last,
      minImpact,
    ),
    lines,
  );
  const names = new Map(lines.map(({ id, name }) => [id, name]));
  return {
    title: `Would have posted ${countWords(postings.filter(isMessage).length, 'time')} in ${countWords(days, 'day')}`,
    parts: [
      { kind: 'text', text: countsText(postings, lines.length) },
      {
        kind: 'table',
        columns: ['Day (UTC)', 'Line', 'News', 'Where'],
        rows: postings.map((one) => [
          one.day,
          one.line === null ? 'most lines' : (names.get(one.line) ?? one.line),
          NEWS[one.news],
          isMessage(one) ? 'message' : 'digest',
        ]),
      },
      footerPart(read, null, [`${label} (UTC), each settled day judged once`]),
    ],
  };
}

const NEWS: Readonly<Record<AnomalyPost['news'], string>> = {
  opened: 'unusual',
  raised: 'now severe',
  doubled: 'doubled since the last report',
  resolved: 'back to usual',
  'new-normal': 'the new normal',
  'common-cause': 'many lines at once',
};

/** Alerts get a message of their own. Notices are part of the digest. */
function isMessage({ tier, news }: AnomalyPost): boolean {
  return tier === 'alert' && news !== 'resolved' && news !== 'new-normal';
}

function countsText(postings: readonly AnomalyPost[], lines: number): string {
  const notices = postings.filter(({ tier, news }) => tier === 'notice' && news === 'opened');
  const ends = postings.filter(({ news }) => news === 'resolved' || news === 'new-normal');
  const listed = `${notices.length} more in digests only`;
  return `${countWords(lines, 'line')}: ${listed}, ${countWords(ends.length, 'end')} in the threads of messages.`;
}

/** Without totals that change together with a metric of their entity, as in the watch itself. */
function withoutTotals(
  postings: readonly AnomalyPost[],
  lines: readonly WatchedLine[],
): readonly AnomalyPost[] {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const key = (day: Day, of: WatchedLine) => `${day} ${entityKey(of)}`;
  const metrics = new Set(
    postings.flatMap(({ day, line }) => {
      const of = line === null ? undefined : byId.get(line);
      return of && of.metric !== null ? [key(day, of)] : [];
    }),
  );
  return postings.filter(({ day, line }) => {
    const of = line === null ? undefined : byId.get(line);
    return !of || of.metric !== null || !metrics.has(key(day, of));
  });
}
