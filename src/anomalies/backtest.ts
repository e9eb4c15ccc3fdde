import { footer, nothingRead } from '../cost-reports/summary.ts';
import { minImpactOf } from '../costs/anomaly/anomaly.ts';
import { type AnomalyPost, replay } from '../costs/anomaly/watch.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import { spanLabel } from '../costs/calendar/span-label.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import type { Answer } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/counted.ts';
import type { AnomalyContext } from './anomaly-run.ts';
import { lookSpan } from './anomaly-scan.ts';
import { type WatchedLine, watchedLines } from './watched-lines.ts';

/** A line of a day takes a tenth of a millisecond, during which nobody else is served. */
const REPLAYED_MAX = 40_000;

/** Replays the organisation's own past: the evidence for or against what the watch would tell. */
export async function backtest(
  context: Pick<AnomalyContext, 'costs' | 'now'>,
  days: number,
): Promise<Answer> {
  const today = dayOf(context.now());
  const [first, last] = [addDays(today, -days), addDays(today, -1)];
  const label = spanLabel({ first, last }, today);
  const read = await context.costs(lookSpan(first, last));
  if (read.rows.length === 0 || read.gaps.length > 0) return nothingRead(label, read);

  const span = lookSpan(first, last);
  const minImpact = minImpactOf(seriesOf(read.rows, {}, span));
  const lines = watchedLines(read.rows, span, minImpact);
  if (lines.length * days > REPLAYED_MAX) {
    const text = `${lines.length} lines are too many for ${days} days at once. Ask for fewer days.`;
    return { title: 'That would take too long', parts: [{ kind: 'text', text }] };
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
      {
        kind: 'note',
        text: `${label} (UTC), as if each day were judged once, final. ${footer(read)}`,
      },
    ],
  };
}

const NEWS: Readonly<Record<AnomalyPost['news'], string>> = {
  opened: 'unusual',
  raised: 'graver than before',
  doubled: 'twice what was told',
  resolved: 'back to usual',
  'new-normal': 'the new normal',
  'common-cause': 'many lines at once',
};

/** Notices stand in the digest; a message of its own is for alerts. */
function isMessage({ tier, news }: AnomalyPost): boolean {
  return tier === 'alert' && news !== 'resolved' && news !== 'new-normal';
}

function countsText(postings: readonly AnomalyPost[], lines: number): string {
  const notices = postings.filter(({ tier, news }) => tier === 'notice' && news === 'opened');
  const ends = postings.filter(({ news }) => news === 'resolved' || news === 'new-normal');
  const listed = `${notices.length} more in digests only`;
  return `${countWords(lines, 'line')}: ${listed}, ${countWords(ends.length, 'end')}, told in threads where a message stood.`;
}

/** An entity's total that moves with one of its metrics is told once, as in the watch itself. */
function withoutTotals(
  postings: readonly AnomalyPost[],
  lines: readonly WatchedLine[],
): readonly AnomalyPost[] {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const key = (day: Day, entity: string | undefined) => `${day} ${entity}`;
  const metrics = new Set(
    postings.flatMap(({ day, line }) => {
      const of = line === null ? undefined : byId.get(line);
      return of && of.metric !== null ? [key(day, of.entityId)] : [];
    }),
  );
  return postings.filter(({ day, line }) => {
    const of = line === null ? undefined : byId.get(line);
    return !of || of.metric !== null || !metrics.has(key(day, of.entityId));
  });
}
