import type { ChangesQueries } from '../../commands/index.ts';
import type { Answer, Caller, InlinePart } from '../../domain/answer.ts';
import {
  type Change,
  hasAuditMismatch,
  type Target,
  targetKey,
  VERBS,
} from '../../domain/change.ts';
import { eventsOf } from '../../log/old/append.ts';
import { listChanges } from '../../log/old/change-lists.ts';
import { claimClick, storeClick } from '../../log/old/inbox.ts';
import { clickKeys } from '../../log/old/verify-click.ts';
import { mayQuery } from './authorize.ts';
import { answerChangeLog } from './change-log.ts';
import type { Click } from './click.ts';
import { CLICK_LEASE_MS, whileLeased } from './click-lease.ts';
import { confirmBeforeDrawing } from './confirm-before-drawing.ts';
import { eventLine, evidenceLine } from './event-text.ts';
import { findChange } from './find-change.ts';
import { answerChangeList } from './list-changes.ts';
import type { PersonSearch } from './person-filter.ts';
import type { DecisionContext, MeasureEffect } from './ports.ts';
import { handleClick, refusalOfVerb } from './review.ts';

/** Answers the queries about changes, and cancels changes, for `/change`. */
export function createChangesQueries(
  decisions: DecisionContext,
  named: PersonSearch['named'],
  measureEffect: MeasureEffect,
): ChangesQueries {
  const context = { ...decisions, measureEffect };
  return {
    list: (request, asker) => answerChangeList({ ...context, named }, request, asker),
    show: (id, asker) => show(context, id, asker),
    cancel: (id, asker) => cancel(context, id, asker),
    latestOf: (target, asker) => latestOf(context, target, asker),
    log: (request, asker) => answerChangeLog({ ...context, named }, request, asker),
  };
}

const LATEST = 5;

/** The changes of a target that this user may see: they are a part of the list of all changes. */
async function latestOf(
  context: DecisionContext,
  target: Target,
  { by }: Caller,
): Promise<readonly Change[]> {
  const mayList = await mayQuery(context, { command: 'change list', target: null, by });
  if (!mayList) return [];
  const filter = { targets: [targetKey(target)], privateTo: by, limit: LATEST };
  return listChanges(context.database.db, filter, (id, err) =>
    context.log.error({ err, change: id }, 'change is not readable and is not shown'),
  );
}

interface ShowContext extends DecisionContext {
  readonly measureEffect: MeasureEffect;
}

async function show(context: ShowContext, id: string, asker: Caller): Promise<Answer> {
  const found = await findChange(context, id, asker);
  if (!found.ok) return found.answer;
  const change = await confirmBeforeDrawing(context, found);
  const history = await eventsOf(context.database.db, change.id);
  const names = hasAuditMismatch(change)
    ? { command: 'change', target: change.id }
    : { command: change.command, target: change.plan.target.name };
  const subject = { ...names, owner: null };
  const lines = history.flatMap((event): readonly (readonly InlinePart[])[] => {
    const evidence = evidenceLine(event);
    return [eventLine(event, subject), ...(evidence ? [evidence] : [])];
  });
  const effect = hasAuditMismatch(change) ? null : await context.measureEffect(change);
  return {
    title: 'History',
    change: { change, hidden: await hiddenFrom(context, change, asker) },
    parts: [
      { kind: 'lines', lines: lines.slice(-LINES_MAX) },
      ...(effect === null ? [] : [{ kind: 'text', text: effect } as const]),
    ],
  };
}

const LINES_MAX = 60;

/** The buttons of the card that this user may not press. */
async function hiddenFrom(
  context: DecisionContext,
  change: Change,
  { by }: Caller,
): Promise<readonly string[]> {
  const identity = await context.people.identify(by, { fresh: false });
  const refused = VERBS.filter(
    (verb) => refusalOfVerb(context, verb, change, { by, identity }) !== null,
  );
  return [
    ...refused.map((verb) => `change.${verb}`),
    ...(change.requester === by ? [] : ['change.reveal']),
  ];
}

/** Handles a typed cancellation like the click of the button: stored first, then decided. */
async function cancel(context: DecisionContext, id: string, asker: Caller): Promise<Answer> {
  const found = await findChange(context, id, asker);
  if (!found.ok) return found.answer;
  const key = `typed:${context.instance}:${context.newId()}${context.newId()}`;
  const click = cancelClick(found.change, asker);
  const by = { owner: context.instance, now: context.now(), leaseMs: CLICK_LEASE_MS };
  await context.database.transaction(async (tx) => {
    await storeClick(tx, await clickKeys(tx, context.auditKey, by.now), {
      key,
      kind: 'click',
      body: { ...click, replyTo: { ...click.replyTo } },
      at: by.now,
    });
    // Claimed, so that its outcome is this answer. After a crash another process handles it.
    await claimClick(tx, key, by);
  });
  const clicked = await whileLeased(context, key, () =>
    handleClick(context, { key, at: by.now }, click),
  );
  context.wake();
  if (!clicked.ok) {
    const { refusal, change, press } = clicked.denial;
    return { title: 'Not cancelled', refused: { refusal, change, press }, parts: [] };
  }
  return {
    title: 'Cancelled',
    parts: [
      { kind: 'changes', changes: [clicked.change] },
      { kind: 'text', text: 'Nothing will be sent.' },
    ],
  };
}

function cancelClick({ id }: Change, { by, channel }: Caller): Click {
  const nowhere = { url: null, channel, ts: null, thread: null };
  const replyTo = { ...nowhere, user: by, replaces: false, home: false };
  return { verb: 'cancel', change: id, by, text: '', place: { kind: 'own' }, replyTo };
}
