// What surrounds a change that is open: every surface shows it, and a change that cannot run any more ends at once.

import { canonical } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { type Change, isEnded, type News, targetKey } from '../domain/change.ts';
import { gate, type OutlookFacts } from '../domain/gate.ts';
import { type Freeze, freezeFor, upcomingFreezes } from '../domain/policy.ts';
import { standingOf } from '../domain/standing.ts';
import { hasSameFacts, policyFacts } from '../domain/targets.ts';
import { startsAt } from '../domain/timing.ts';
import { activeConfiguration, listChanges, loadChange, type Subjects } from '../log/index.ts';
import type { DecisionContext, WorkflowContext } from './context.ts';
import { advance, redrawOpen } from './moves.ts';
import {
  changedSincePlan,
  compareTarget,
  currentPolicy,
  currentTarget,
  type LaterChange,
  ruleFacts,
} from './target.ts';

/** The change with what surrounds it now. An ended one has no news: nobody decides about it any more. */
export async function withNews(context: DecisionContext, change: Change): Promise<Change> {
  if (isEnded(change)) return change;
  const requester = await context.people.identify(change.requester, { fresh: false });
  const facts = await outlookFacts(context, context.events, change, requester);
  const { policy, target, now } = facts;
  const answer = gate(change, 'outlook', facts);
  const news: News = {
    others: await relatedChanges(context, change),
    freezes: upcomingFreezes(policy.freezes, target, now),
    target: hasSameFacts(target, change.plan.target) ? null : target,
    refusal: answer === 'open' ? null : answer.refusal,
    ...(change.standing && {
      standing: (await loadChange(context.events, change.standing)) ?? undefined,
    }),
  };
  return { ...change, news };
}

/** Changes when something else surrounds the change, so that its card is drawn again. */
export function newsRevision({ news }: Pick<Change, 'news'>): readonly unknown[] {
  if (!news) return [];
  const states = news.others.map(({ id, state }) => `${id} ${state}`);
  const freezes = news.freezes.map(({ from, until, reason }) => [from, until, reason]);
  const { target, refusal } = news;
  const place = target && [target.tags, target.warehouse];
  return [...states, ...freezes, ...(place ?? []), ...(refusal ? [refusal] : [])];
}

/** When the passing of time alone changes what is shown: a freeze begins or ends, a standing approval expires. Null: never. */
export function newsChangeAt(change: Change, now: Date): Date | null {
  const freezes = (change.news?.freezes ?? []).flatMap(({ from, until }) => [from, until]);
  const times = [...freezes, standingOf(change)?.until].filter((each) => each !== undefined);
  const next = times.filter((time) => time > now).toSorted((a, b) => a.getTime() - b.getTime());
  return next[0] ?? null;
}

/** What is known about whether a change could run. `subjects`: the log, or the same under its lock. */
export async function outlookFacts(
  context: DecisionContext,
  subjects: Subjects,
  change: Change,
  requester: OutlookFacts['requester'],
): Promise<OutlookFacts & { readonly changedBy: LaterChange | null }> {
  const changedBy = await changedSincePlan(subjects, change);
  const rules = await ruleFacts(context, subjects, change);
  return { ...rules, requester, isOutdated: changedBy !== null, changedBy };
}

/** The freeze in which a change would run. */
export async function blockingFreeze(
  context: DecisionContext,
  { plan }: Change,
): Promise<Freeze | null> {
  const { freezes } = await currentPolicy(context, context.events);
  return freezeFor(freezes, currentTarget(context, plan), startsAt(plan, context.now()));
}

/**
 * Ends a waiting change that cannot run any more by its news, so that nobody decides about it without effect. Returns
 * whether it has ended: its requester may be another one than what is cached.
 */
export async function endHopeless(context: WorkflowContext, change: Change): Promise<boolean> {
  const { id, state, news, plan } = change;
  const isWaiting = state === 'pending' || state === 'approved';
  // A run of a schedule is decided by its claim, a moment later.
  if (!news?.refusal || !isWaiting || plan.timing?.schedule) return false;
  const requester = await context.people.identify(change.requester, { fresh: true });
  const known = await outlookFacts(context, context.events, change, requester);
  if (!endsBy(change, known)) return false;
  // It ends in any case: the differences only explain it.
  const target = known.isOutdated ? await compareTarget(context, change).catch(() => null) : null;
  const differences = target?.kind === 'differs' ? target.differences : [];
  const ended = await advance(context, id, async (before, locked) => {
    // A process with an older configuration ends nothing by it.
    const active = await activeConfiguration(locked);
    if (active !== null && active.configuration !== context.configuration) return null;
    const { changedBy, ...facts } = await outlookFacts(context, locked, before, requester);
    const ends = endsBy(before, facts);
    const stateCheck = { kind: 'differs', differences, changedBy } as const;
    return ends && { ...ends, ...(changedBy && { stateCheck }) };
  });
  return ended !== null && typeof ended !== 'string';
}

const OPEN_MAX = 500;

/** Ends what cannot run any more because of who its requester is now. `user`: the one who changed; null: a group did. */
export async function peopleChanged(context: WorkflowContext, user: string | null): Promise<void> {
  const query = { states: ['pending', 'approved'], confirmed: true, limit: OPEN_MAX } as const;
  const of = user === null ? query : { ...query, requester: user };
  for (const change of await listChanges(context.events, of)) {
    await endHopeless(context, await withNews(context, change));
  }
}

/** A pass that draws open cards again once the directory says something else about the tags or warehouse of a service. */
export function directoryWatch(context: DecisionContext): () => Promise<unknown> {
  const facts = () =>
    JSON.stringify(context.services().map((each) => [each.id, policyFacts(each)]));
  let known = facts();
  return async () => {
    const now = facts();
    if (now === known) return 'not-due';
    await redrawOpen(context);
    known = now;
  };
}

function endsBy(change: Change, facts: OutlookFacts) {
  const answer = gate(change, 'outlook', facts);
  return answer === 'open' ? null : answer.ends;
}

const SAME_WITHIN_MS = HOUR_MS;
const MOST_RELATED = 100;

/** Other open changes of the target, and those that did the same within the hour before. */
async function relatedChanges({ events }: DecisionContext, change: Change) {
  const { id, command, plan, createdAt } = change;
  const openOrSince = new Date(createdAt.getTime() - SAME_WITHIN_MS);
  const of = { targets: [targetKey(change)], except: id, limit: MOST_RELATED };
  const isSame = (other: Change) =>
    other.command === command && canonical(other.plan.body) === canonical(plan.body);
  const isRelated = (other: Change) =>
    isEnded(other)
      ? other.state === 'succeeded' && other.createdAt <= createdAt && isSame(other)
      : other.state !== 'draft';
  return (await listChanges(events, { ...of, openOrSince })).filter(isRelated);
}
