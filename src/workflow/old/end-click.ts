import type { ChangeId, UserId } from '../../domain/change.ts';
import { appendEvent } from '../../log/old/append.ts';
import { type ClaimedClick, markHandled } from '../../log/old/inbox.ts';
import { enqueueUserNotice } from '../../log/old/notices.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { DecisionContext } from './ports.ts';

// Ids and verbs are shorter. An attacker may have written the stored text.
const LONGEST_TEXT = 60;
const USER_ID = /^[UW][A-Z0-9]+$/;

/** What a stored click says, as far as it can be read. It may be what cannot be handled. */
interface ClickSummary {
  readonly by: UserId | null;
  readonly change: ChangeId | null;
  readonly tried: string;
  readonly subject: { readonly anomaly?: string };
  /** What was clicked, in words. */
  readonly about: string;
  readonly reference: string;
}

/** How a click ends that had no effect. */
interface ClickEnd {
  /** The kind of the audit event, and the reason under which it is counted. */
  readonly kind: string;
  readonly facts: (click: ClickSummary) => { readonly by: string | null; readonly did: string };
  /** The direct message to its user. */
  readonly text: (click: ClickSummary) => string;
  /** More for the same commit. */
  readonly also?: ((tx: Tx) => Promise<void>) | undefined;
}

/**
 * Ends a click without an effect: its user is notified, the audit trail records it, and it is counted.
 * Returns the id of its change; false if the click was handled before.
 */
export async function endClick(
  context: DecisionContext,
  row: ClaimedClick,
  { kind, facts, text, also }: ClickEnd,
): Promise<{ readonly change: ChangeId | null } | false> {
  const click = summaryOf(row);
  const { by, tried, change, subject } = click;
  const at = context.now();
  const isEnded = await context.database.transaction(async (tx) => {
    if (!(await markHandled(tx, row.key, at))) return false;
    await appendEvent(tx, context.auditKey, {
      kind,
      ...(change && { changeId: change }),
      at,
      body: { ...facts(click), tried, ...subject },
    });
    if (by) await enqueueUserNotice(tx, { to: by, title: 'Click failed', text: text(click) }, at);
    await also?.(tx);
    return true;
  });
  if (!isEnded) return false;
  context.measures.refused(kind);
  return { change };
}

function summaryOf({ body, kind }: ClaimedClick): ClickSummary {
  const text = (name: string) => {
    const value = body[name];
    return typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : null;
  };
  const [request, anomaly, by] = [text('request'), text('id'), text('by')];
  // Slack assigned both ids.
  const change = text('change') as ChangeId | null;
  return {
    by: by !== null && USER_ID.test(by) ? (by as UserId) : null,
    change,
    tried: text('verb') ?? kind.slice(0, LONGEST_TEXT),
    subject: anomaly === null ? {} : { anomaly },
    about: change ?? anomaly ?? 'a message',
    reference: request === null ? '' : ` Reference: ${request}`,
  };
}
