import { during, type LogContextFields, note, traced, type Work } from '../../base/log.ts';
import { claimDueClicks, retryClickAt } from '../../log/old/inbox.ts';
import { Click } from './click.ts';
import { CLICK_LEASE_MS, whileLeased } from './click-lease.ts';
import { GAP, handleGapClick } from './gap-click.ts';
import { giveUpClick } from './give-up-click.ts';
import { showHome } from './home-queries.ts';
import { handleIncidentClick, INCIDENT } from './incident-click.ts';
import type { WorkflowContext } from './ports.ts';
import { rejectStoredClick } from './reject-stored-click.ts';
import { handleClick } from './review.ts';

// New clicks commit through the same connections: at most three or four of these wait for each of six before them.
const AT_ONCE = 20;
const RETRY_AFTER_MS = 5_000;
const GIVE_UP_AFTER = 10;

type Row = Awaited<ReturnType<typeof claimDueClicks>>[number];

/** Handles new clicks, and those whose process crashed. Returns how many it handled. */
export async function handleInbox(context: WorkflowContext): Promise<number> {
  const by = { owner: context.instance, now: context.now(), leaseMs: CLICK_LEASE_MS };
  const lease = { ...by, limit: AT_ONCE };
  const rows = await context.database.transaction((tx) =>
    claimDueClicks(tx, context.auditKey, lease),
  );
  await Promise.all(
    rows.map((row) =>
      during(logContextOf(row), () =>
        traced(workOf(row), () => whileLeased(context, row.key, () => handle(context, row))),
      ),
    ),
  );
  return rows.length;
}

// An older release stored no request id.
function logContextOf({ body: { request, change } }: Row): LogContextFields {
  return {
    ...(typeof request === 'string' ? { request } : {}),
    ...(typeof change === 'string' ? { change } : {}),
  };
}

// Handling a click continues the trace of the click.
function workOf({ kind, body: { trace, change, verb } }: Row): Work {
  const facts = {
    ...(typeof change === 'string' ? { 'signalbox.change': change } : {}),
    ...(typeof verb === 'string' ? { 'signalbox.verb': verb } : {}),
  };
  const from = typeof trace === 'string' ? trace : null;
  return { name: `handle ${kind}`, kind: 'consumer', facts, from };
}

async function handle(context: WorkflowContext, row: Row): Promise<void> {
  try {
    if (row.problem) return await rejectStoredClick(context, row, row.problem);
    if (row.kind === INCIDENT) return await handleIncidentClick(context, row);
    if (row.kind === GAP) return await handleGapClick(context, row);
    const click = Click.parse(row.body);
    const clicked = await handleClick(context, row, click);
    // The card shows the outcome to everyone, so that this ephemeral answer may be lost.
    context.messenger.answerClick(click.replyTo, clicked, row).catch((error: unknown) => {
      context.log.warn({ err: error, change: click.change }, 'ephemeral answer was not delivered');
    });
    if (!click.replyTo.home) return;
    showHome(context, click.by).catch((error: unknown) => {
      context.log.warn({ err: error, change: click.change }, 'App Home was not redrawn');
    });
  } catch (error) {
    note({ 'error.type': 'failed' });
    context.log.error(
      { err: error, key: row.key, attempts: row.attempts },
      'click could not be handled',
    );
    await retry(context, row);
  }
}

async function retry(context: WorkflowContext, row: Row): Promise<void> {
  if (row.attempts >= GIVE_UP_AFTER) return giveUpClick(context, row);
  const at = new Date(context.now().getTime() + RETRY_AFTER_MS);
  await context.database.transaction((tx) => retryClickAt(tx, row.key, at));
}
