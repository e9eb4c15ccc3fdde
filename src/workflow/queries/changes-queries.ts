import {
  type Change,
  type ChangeId,
  hasAuditMismatch,
  type Target,
  targetKey,
} from '../../changes/change.ts';
import type { Answer, AnswerPart, CommandOffer, InlinePart } from '../../intent/answers/answer.ts';
import { countWords, unreadableText } from '../../intent/answers/texts.ts';
import type { ListRequest } from '../../intent/ports/changes-queries.ts';
import type { Caller, ChangesQueries } from '../../intent/ports/command-context.ts';
import { eventsOf } from '../../storage/audit/append.ts';
import {
  type ChangeFilter,
  COUNTED_MAX,
  countChanges,
  listChanges,
} from '../../storage/tables/changes/change-lists.ts';
import { claimClick, storeClick } from '../../storage/tables/queues/inbox.ts';
import { clickKeys } from '../../storage/tables/queues/verify-click.ts';
import { eventLine, evidenceLine } from '../audit-trail/event-text.ts';
import { mayQuery } from '../authorize.ts';
import { VERBS } from '../clicks.ts';
import { findChange, offerOf } from '../find-change.ts';
import { confirmBeforeDrawing } from '../notify/confirm-before-drawing.ts';
import type { DecisionContext } from '../ports.ts';
import type { Click } from '../review/click.ts';
import { CLICK_LEASE_MS, whileLeased } from '../review/click-lease.ts';
import { handleClick, refusalOfVerb } from '../review/review.ts';
import { answerChangeLog, type LogContext } from './change-log.ts';

const PAGE = 20;

/** Answers the queries about changes, and cancels changes, for `/change`. */
export function createChangesQueries(
  context: DecisionContext,
  named: LogContext['named'],
): ChangesQueries {
  return {
    list: (request, asker) => list(context, request, asker),
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

type ListFilter = Omit<ChangeFilter, 'limit' | 'before'>;

function filterOf(which: ListRequest['which'], { by }: Caller): ListFilter {
  if (which === 'pending') return { states: ['pending'] };
  if (which === 'mine') return { requester: by };
  return which === 'review' ? { toReview: true } : { privateTo: by };
}

const TITLES: Readonly<Record<ListRequest['which'], string>> = {
  pending: 'waiting for approval',
  mine: 'requested by you',
  all: 'in total',
  review: 'with break-glass, not yet reviewed',
};

async function list(
  context: DecisionContext,
  { which, before }: ListRequest,
  asker: Caller,
): Promise<Answer> {
  const after = before === null ? null : await findChange(context, before, asker);
  if (after && !after.ok) return after.answer;
  const { db } = context.database;
  const filter = filterOf(which, asker);
  const unreadable: ChangeId[] = [];
  const cursor = after ? { before: after.change } : {};
  const [count, found] = await Promise.all([
    countChanges(db, { ...filter, ...cursor }),
    listChanges(db, { ...filter, ...cursor, limit: PAGE }, (id, err) => {
      unreadable.push(id);
      context.log.error({ err, change: id }, 'change is not readable and is not shown');
    }),
  ]);
  const older = before === null ? '' : ` before ${before}`;
  const note = { kind: 'note', text: unreadableText(unreadable) } as const;
  const parts = listParts(found, count - unreadable.length, which);
  return {
    title: count === 0 ? 'Changes' : `${countText(count, 'change')} ${TITLES[which]}${older}`,
    parts: unreadable.length > 0 ? [...parts, note] : parts,
  };
}

function countText(count: number, noun: string): string {
  return count > COUNTED_MAX ? `More than 1,000 ${noun}s` : countWords(count, noun);
}

function listParts(
  found: readonly Change[],
  count: number,
  which: ListRequest['which'],
): readonly AnswerPart[] {
  const last = found.at(-1);
  const left = count > COUNTED_MAX ? count : count - found.length;
  const line = `change list ${which}${last ? ` before=${last.id}` : ''}`;
  const older: readonly CommandOffer[] = left > 0 ? [{ label: 'Older', line }] : [];
  const others = ['pending', 'mine', 'all']
    .filter((each) => each !== which)
    .map((each) => ({ label: NAMES[each] ?? each, line: `change list ${each}` }));
  return [
    found.length > 0 ? { kind: 'changes', changes: found } : { kind: 'text', text: NONE[which] },
    { kind: 'menu', label: 'Show one…', offers: found.map(offerOf) },
    { kind: 'offers', offers: [...older, ...others] },
    ...(left > 0
      ? [
          {
            kind: 'note',
            text: `${countText(left, 'older change')} not shown.`,
          } as const,
        ]
      : []),
  ];
}

const NONE: Readonly<Record<ListRequest['which'], string>> = {
  pending: 'No changes are waiting for approval.',
  mine: 'You have requested no changes.',
  all: 'There are no changes.',
  review: 'No emergency change needs a review.',
};

const NAMES: Readonly<Record<string, string>> = { pending: 'Waiting', mine: 'Yours', all: 'All' };

async function show(context: DecisionContext, id: string, asker: Caller): Promise<Answer> {
  const found = await findChange(context, id, asker);
  if (!found.ok) return found.answer;
  const change = await confirmBeforeDrawing(context, found.change);
  const history = await eventsOf(context.database.db, change.id);
  const names = hasAuditMismatch(change)
    ? { command: 'change', target: change.id }
    : { command: change.command, target: change.plan.target.name };
  const subject = { ...names, owner: null };
  const lines = history.flatMap((event): readonly (readonly InlinePart[])[] => {
    const evidence = evidenceLine(event);
    return [eventLine(event, subject), ...(evidence ? [evidence] : [])];
  });
  return {
    title: 'History',
    change: { change, hidden: await hiddenFrom(context, change, asker) },
    parts: [{ kind: 'lines', lines: lines.slice(-LINES_MAX) }],
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
  const actor = { id: by, roles: identity.ok ? identity.actor.roles : [] };
  const refused = VERBS.filter((verb) => refusalOfVerb(context, verb, change, actor) !== null);
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
  const clicked = await whileLeased(context, key, () => handleClick(context, key, click));
  context.wake();
  if (!clicked.ok) {
    const { refusal, change } = clicked.denial;
    return { title: 'Not cancelled', refused: { refusal, change }, parts: [] };
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
  return { verb: 'cancel', change: id, by, text: '', replyTo };
}
