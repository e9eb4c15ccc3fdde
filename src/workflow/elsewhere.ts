// Names changes that were made elsewhere: in the console, by Terraform, with any key. What the activity log of the server
// lists, and no change of Signalbox sent, is announced once, in the channel of its service.

import { createHash } from 'node:crypto';
import { createOutageLog } from '../base/log.ts';
import { DAY_MS, type Day, dayOf, daysBetween, MINUTE_MS } from '../base/time.ts';
import { decidedChanges } from '../commands/index.ts';
import type { Answer } from '../domain/answer.ts';
import { type Change, type ChangeId, targetKey } from '../domain/change.ts';
import {
  evolveElsewhere,
  type FoundElsewhere,
  type NewEvent,
  StoredAnswer,
} from '../domain/log-events.ts';
import { requirementFor } from '../domain/policy.ts';
import { nameToType, serviceTarget } from '../domain/targets.ts';
import { append, listChanges, loadChange, type Subjects } from '../log/index.ts';
import type { ActivityReading } from '../servers/cloud-readings.ts';
import type { Job } from '../storage/index.ts';
import type { WorkflowContext } from './context.ts';
import type { JobKind } from './jobs.ts';
import { targetChanges } from './target.ts';

interface ElsewhereOptions {
  /** Whether the configuration has the optional reads. */
  readonly isOn: boolean;
  /** Where changes are named whose rule has no channel of its own; null: nowhere. */
  readonly audit: string | null;
}

/** With a failed read between two others, a change is still named within five minutes after it is listed. */
const READ_EVERY_MS = 2 * MINUTE_MS;
const RETRY_MS = 30_000;
/** A start reads what happened since the last stop, up to this time before. */
const LONGEST_GAP_MS = 5 * DAY_MS;

/** The job of an organization: reads its activities, and announces what Signalbox did not send. */
export function elsewhereKind(context: WorkflowContext, options: ElsewhereOptions): JobKind {
  // What this process knows, so that it reads less: the log decides what is announced.
  let readUpTo = 0;
  const own: OwnActivities = new Map();
  const outage = createOutageLog(context.log, {
    began: 'activities cannot be read: changes made elsewhere are not named until they can be',
    ended: 'activities are read again',
  });
  return {
    lane: 'background',
    retryMs: () => RETRY_MS,
    run: async ({ key }) => {
      const isOwn = key === context.organization;
      const since = isOwn ? await readSince(context, options.isOn) : null;
      if (since === null) return 'done';
      const now = context.now().getTime();
      const from = Math.max(since, Math.max(readUpTo, now - LONGEST_GAP_MS) - DAY_MS);
      const period = { from_date: dayOf(new Date(from)), to_date: dayOf(new Date(now)) };
      const { activities } = context.commandContext().reads.cloud;
      const read = await activities(period, { fresh: true });
      if (read.known) {
        outage.ended();
        const days = daysBetween(period.from_date, period.to_date);
        const listed = entriesIn(read.value, since, days);
        const known = await foundOn(context.events, days);
        await matchOwn(context, own, listed, unknownTo(known, listed));
        const others = listed.filter(({ id }) => !own.has(id));
        await announce(context, options.audit, unknownTo(known, others), days);
        readUpTo = now;
      } else outage.failed('unread', { gap: read.gap, why: read.why });
      return new Date(context.now().getTime() + READ_EVERY_MS);
    },
  };
}

/** Since when changes are named: nothing before the first start with extended reads is, nor while they are off. */
async function readSince(
  { events, organization }: Pick<WorkflowContext, 'events' | 'organization'>,
  isOn: boolean,
): Promise<number | null> {
  const stream = `elsewhere/${organization}` as const;
  const { result } = await append(events, async (locked) => {
    const since = (await locked.load(stream, evolveElsewhere)).state?.since ?? null;
    if ((since !== null) === isOn) return { events: [], result: since };
    const event = { type: isOn ? 'begun' : 'ended' } as const;
    return { events: [{ stream, event }], result: isOn ? locked.at : null };
  });
  return result;
}

/** A listed change of a service, of a known time. */
interface Entry extends Omit<FoundElsewhere, 'group'> {
  readonly type: string;
  readonly isOwnKey: boolean;
}

const TEXT_MAX = 100;

/** The oldest first. A server that ignores the period lists more. */
function entriesIn(
  activities: readonly ActivityReading[],
  since: number,
  days: readonly Day[],
): readonly Entry[] {
  const entries = decidedChanges(activities).flatMap((one): readonly Entry[] => {
    const madeAt = new Date(one.createdAt ?? '');
    // Of what has no time, it is not known whether it happened before.
    if (!(madeAt.getTime() >= since) || !days.includes(dayOf(madeAt))) return [];
    const id = createHash('sha256').update(one.id).digest('base64url');
    const service = (one.serviceId ?? '').slice(0, TEXT_MAX);
    const { what, by, isOwnKey, type } = one;
    return [{ id, madeAt, service, what, by, isOwnKey, type: type ?? '' }];
  });
  const unique = new Map(entries.map((one) => [one.id, one]));
  return [...unique.values()].toSorted((a, b) => a.madeAt.getTime() - b.madeAt.getTime());
}

async function announce(
  context: WorkflowContext,
  audit: string | null,
  others: readonly Entry[],
  days: readonly Day[],
): Promise<void> {
  if (others.length === 0) return;
  await append(context.events, async (locked) => {
    const known = await foundOn(locked, days);
    const added = withGroups(known, unknownTo(known, others));
    const events: NewEvent[] = added.map(foundEvent);
    const jobs: Job[] = [];
    for (const [group, one] of new Map(added.map((each) => [each.group, each]))) {
      const place = placeOf(context, one);
      const channel = place.channel ?? audit;
      if (channel === null) continue;
      const related = [...known, ...added].filter((each) => each.group === group);
      const answer = StoredAnswer.parse(elsewhereMessage(place, related));
      const key = `elsewhere-${group}`;
      events.push({ stream: `post/${key}`, event: { type: 'announced', channel, answer } });
      jobs.push({ kind: 'post', key, dueAt: locked.at });
    }
    return { events, jobs, result: null };
  });
  context.wake();
}

/** What was announced of these days. */
async function foundOn(
  subjects: Subjects,
  days: readonly Day[],
): Promise<readonly FoundElsewhere[]> {
  const all = days.map((day) => subjects.load(`elsewhere/${day}`, evolveElsewhere));
  return (await Promise.all(all)).flatMap(({ state }) => state?.found ?? []);
}

function unknownTo(known: readonly FoundElsewhere[], all: readonly Entry[]): readonly Entry[] {
  const ids = new Set(known.map(({ id }) => id));
  return all.filter(({ id }) => !ids.has(id));
}

function foundEvent({ type: _, isOwnKey: __, ...facts }: Grouped): NewEvent {
  const event = { type: 'found', ...facts } as const;
  return { stream: `elsewhere/${dayOf(facts.madeAt)}`, event };
}

type Grouped = Entry & Pick<FoundElsewhere, 'group'>;

/** Changes of a service by one actor that share a message: all within this time after its first one. */
const RELATED_MS = 5 * MINUTE_MS;

function withGroups(known: readonly FoundElsewhere[], fresh: readonly Entry[]): readonly Grouped[] {
  const added: Grouped[] = [];
  for (const one of fresh) {
    const first = [...known, ...added].find(
      ({ id, group, service, by, madeAt }) =>
        id === group &&
        service === one.service &&
        by === one.by &&
        Math.abs(madeAt.getTime() - one.madeAt.getTime()) <= RELATED_MS,
    );
    added.push({ ...one, group: first?.id ?? one.id });
  }
  return added;
}

/** The name of the service, how a line names it, and the channel of the rule for such a change of it. */
function placeOf(
  { services, policy, commands }: WorkflowContext,
  { service: id, type }: Pick<Entry, 'service' | 'type'>,
) {
  const all = services();
  const service = all.find((each) => each.id === id);
  if (!service) return { name: `Service ${id || 'without an id'}`, line: null, channel: null };
  const same = [...commands.values()].find(({ activities }) => activities?.includes(type));
  const about = { command: same?.name ?? 'service scale', target: serviceTarget(service) };
  const channel = requirementFor(policy, about)?.channel ?? null;
  return { name: service.name, line: nameToType(service, all), channel };
}

const LISTED_MAX = 10;

/** The message about one or several changes of a service by one actor. `line` names the service in a command line. */
function elsewhereMessage(
  { name, line }: { readonly name: string; readonly line: string | null },
  all: readonly FoundElsewhere[],
): Answer {
  const [first] = all;
  const one = `${first?.what.charAt(0).toLowerCase()}${first?.what.slice(1)}`;
  const more = all.length > LISTED_MAX ? `and ${all.length - LISTED_MAX} more. ` : '';
  const listed = all.slice(0, LISTED_MAX).map(({ what, madeAt }) => [`${what}, `, { at: madeAt }]);
  const offers = [{ label: 'Show service', line: `service show ${line}` }];
  return {
    title: `${name}: ${all.length === 1 ? one : `${all.length} changes`} ${first?.by}`,
    parts: [
      { kind: 'lines', lines: listed },
      { kind: 'note', text: `${more}Not made with Signalbox.` },
      ...(line === null ? [] : [{ kind: 'offers', offers } as const]),
    ],
  };
}

/** One request of Signalbox: the service that it changed, and when the server may have applied it. */
interface Send {
  readonly change: ChangeId;
  readonly types: readonly string[];
  /** Null: a creation without an answer, so that its service is not known. */
  readonly service: string | null;
  readonly claimedAt: number;
  readonly until: number;
}

/** The request that a listed activity is about, by the id of the activity. */
type OwnActivities = Map<string, string>;

/**
 * Finds the activities that are about requests of Signalbox: of its key, service and type, and between the claim and the
 * answer. A request explains one activity of each type, that which is nearest to its claim. The last request chooses
 * first, because an earlier one without an answer may be applied later.
 */
async function matchOwn(
  context: WorkflowContext,
  own: OwnActivities,
  listed: readonly Entry[],
  fresh: readonly Entry[],
): Promise<void> {
  const ids = new Set(listed.map(({ id }) => id));
  for (const id of [...own.keys()]) if (!ids.has(id)) own.delete(id);
  const open = fresh.filter(({ id, isOwnKey }) => isOwnKey && !own.has(id));
  if (open.length === 0) return;
  const explained = new Set(own.values());
  const sends = (await sendsTo(context, open)).toSorted((a, b) => b.claimedAt - a.claimedAt);
  for (const send of sends) {
    for (const type of send.types) {
      const distance = ({ madeAt }: Entry) => Math.abs(madeAt.getTime() - send.claimedAt);
      const [nearest] = open
        .filter((one) => one.type === type && !own.has(one.id) && mayBeAbout(one, send))
        .toSorted((a, b) => distance(a) - distance(b));
      const request = `${send.change} ${type}`;
      if (nearest && !explained.has(request)) own.set(nearest.id, request);
    }
  }
}

function mayBeAbout({ type, service, madeAt }: Entry, send: Send): boolean {
  const at = madeAt.getTime();
  const isOfService = send.service === null ? type === CREATED : service === send.service;
  return isOfService && at >= send.claimedAt - CLOCKS_DIFFER_MS && at <= send.until;
}

/** The clock of the server may differ from that of the database by this much. */
const CLOCKS_DIFFER_MS = MINUTE_MS;
/** A request without an answer may be applied so much later. */
const LATE_MS = DAY_MS;
const CREATED = 'service_create';
/** Creations are rare: so many reach further back than what is listed. */
const MOST_CREATIONS = 50;

/** The requests that may have changed these services, or created them. */
async function sendsTo(
  context: WorkflowContext,
  entries: readonly Entry[],
): Promise<readonly Send[]> {
  const { events, commands, organization } = context;
  const first = Math.min(...entries.map(({ madeAt }) => madeAt.getTime()));
  const creating = [...commands.values()].filter(({ activities }) => activities?.includes(CREATED));
  const names = creating.map(({ name }) => name);
  const created = { commands: names, confirmed: true, limit: MOST_CREATIONS } as const;
  const keys = new Set([
    ...entries.map(({ service: id }) =>
      targetKey({ organization, plan: { target: { kind: 'service', id } } }),
    ),
    ...(await listChanges(events, created)).map(targetKey),
  ]);
  const sends: Send[] = [];
  for (const key of keys) {
    for (const { change: id, since } of await targetChanges(events, key)) {
      const claimedAt = since.getTime();
      const change = claimedAt < first - LATE_MS ? null : await loadChange(events, id);
      const types = change && commands.get(change.command)?.activities;
      if (types && isSent(change))
        sends.push({ change: id, types, claimedAt, ...sentTo(change, claimedAt) });
    }
  }
  return sends;
}

/** False: nothing was sent, or the server refused it. */
function isSent({ state, outcome }: Change): boolean {
  return state === 'executing' || (outcome !== null && outcome.how !== 'failed');
}

function sentTo({ plan, outcome }: Change, claimedAt: number): Pick<Send, 'service' | 'until'> {
  const { kind, id } = plan.target;
  const answered = outcome?.how === 'succeeded' ? outcome : null;
  return {
    service: kind === 'new service' ? (answered?.createdId ?? null) : id,
    until: answered ? answered.at.getTime() + CLOCKS_DIFFER_MS : claimedAt + LATE_MS,
  };
}
