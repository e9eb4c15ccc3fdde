import { HOUR_MS } from '../../base/time.ts';
import type { ClaimedClick } from '../../log/old/inbox.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import type { ClickProblem } from '../../log/old/verify-click.ts';
import type { Database } from '../../storage/old/database.ts';
import { endClick } from './end-click.ts';
import type { DecisionContext } from './ports.ts';

const REPORT_EVERY_MS = HOUR_MS;

const FOUND: Readonly<Record<Exclude<ClickProblem, 'expired'>, string>> = {
  unsigned: 'has no signature',
  'signature-differs': 'has a wrong signature',
  unreadable: 'cannot be read',
};

/** Ends a stored click that fails its verification. It has no effect, and nobody is its author. */
export async function rejectStoredClick(
  context: DecisionContext,
  row: ClaimedClick,
  problem: ClickProblem,
): Promise<void> {
  const ended =
    problem === 'expired'
      ? await endExpired(context, row)
      : await endUnverified(context, row, FOUND[problem]);
  if (!ended) return;
  context.log.error({ key: row.key, change: ended.change, problem }, 'stored click was rejected');
}

function endExpired(context: DecisionContext, row: ClaimedClick) {
  return endClick(context, row, {
    kind: 'click-expired',
    facts: ({ by, tried }) => ({ by, did: `pressed “${tried}”, which expired and had no effect` }),
    text: ({ tried, about, reference }) =>
      `Your click “${tried}” on ${about} had no effect: Signalbox could not handle it within ` +
      `1 hour. Press the button again.${reference}`,
  });
}

async function endUnverified(context: DecisionContext, row: ClaimedClick, found: string) {
  const reports = claimReport(context);
  const notice =
    `A stored click ${found}, so Signalbox did not handle it. A replica of release 1.0 stores clicks ` +
    'without a signature during an upgrade. Otherwise check who can write to the database. The ' +
    'audit trail records each such click as click-unverified.';
  let ended: Awaited<ReturnType<typeof endClick>> = false;
  try {
    ended = await endClick(context, row, {
      kind: 'click-unverified',
      facts: ({ tried }) => ({
        by: 'signalbox',
        did: `rejected a stored click “${tried}” that ${found}`,
      }),
      text: ({ tried, about, reference }) =>
        `Your click “${tried}” on ${about} had no effect: Signalbox could not verify it. If you ` +
        'pressed the button, press it again. If you did not, inform an operator.' +
        reference,
      also: reports ? (tx) => enqueueOperatorsNotice(tx, notice, context.now()) : undefined,
    });
    return ended;
  } finally {
    if (reports && !ended) lastReports.delete(context.database);
  }
}

// In memory: an attacker who writes to the database cannot suppress the report.
const lastReports = new WeakMap<Database, Date>();

/** Returns whether this process reports now. It reports once per hour, not once per click. */
function claimReport({ database, now }: DecisionContext): boolean {
  const last = lastReports.get(database);
  if (last && now().getTime() - last.getTime() < REPORT_EVERY_MS) return false;
  lastReports.set(database, now());
  return true;
}
