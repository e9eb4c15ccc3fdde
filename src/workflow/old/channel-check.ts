import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { hasPostedAnchors, type PostedAnchors, postedAnchors } from './anchors.ts';
import { isOtherInstallations, OTHER_INSTALLATION } from './other-installation.ts';
import type { DecisionContext } from './ports.ts';
import { stopRestoredChanges } from './restored.ts';

const RETRY_AFTER_MS = 30_000;

const UNREAD =
  'The audit channel could not be read yet, so another installation may use it. ' +
  'Signalbox reads it again every 30 s.';
const FOREIGN = `channels.audit: ${OTHER_INSTALLATION.problem}; ${OTHER_INSTALLATION.hint}`;

/** Whether the audit channel belongs to this installation, where the start could not read it. */
export interface ChannelCheck {
  /** Why nothing is executed and no anchor is posted; null where the channel was checked. */
  readonly problem: () => string | null;
  /** Reads the channel again every 30 s until it was read. Returns 1 if executions may start. */
  readonly repeat: (context: DecisionContext) => Promise<number>;
}

interface CheckOptions extends Pick<DecisionContext, 'database' | 'now'> {
  readonly anchors: PostedAnchors;
}

/**
 * A database that never posted an anchor waits until its audit channel was read. Without the check it
 * would post its own anchor, and no later start would recognise it as the second installation.
 * Source: docs/operating.md#one-installation-per-audit-channel.
 */
export async function openChannelCheck(options: CheckOptions): Promise<ChannelCheck> {
  const { anchors, database, now } = options;
  const isUnread = !anchors.ok && anchors.passing && !(await hasPostedAnchors(database.db));
  let problem = isUnread ? UNREAD : null;
  let nextMs = now().getTime() + RETRY_AFTER_MS;

  async function repeat(context: DecisionContext): Promise<number> {
    const nowMs = context.now().getTime();
    if (problem !== UNREAD || nowMs < nextMs) return 0;
    nextMs = nowMs + RETRY_AFTER_MS;
    const posted = await postedAnchors(context.messenger, context.auditKey);
    if (!posted.ok && posted.passing) return 0;
    if (await isOtherInstallations(context.database.db, posted)) {
      await reportForeign(context);
      problem = FOREIGN;
      return 0;
    }
    await stopRestoredChanges(context, posted);
    problem = null;
    context.log.info('audit channel was checked; executions continue');
    return 1;
  }
  return { problem: () => problem, repeat };
}

async function reportForeign({ database, log, now }: DecisionContext): Promise<void> {
  log.error({ problem: FOREIGN }, 'executions are stopped');
  const text = `Signalbox executes no change. ${FOREIGN}.`;
  await database.transaction((tx) => enqueueOperatorsNotice(tx, text, now()));
}
