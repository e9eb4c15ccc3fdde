// Names changes that were made elsewhere: in the console, by Terraform, with any key. What the activity log of the server
// lists, and no change of Signalbox sent, is announced once, in the channel of its service.

import { hash } from 'node:crypto';
import { cleanText } from '../base/text.ts';
import { DAY_MS, type Day, dayOf, daysBetween, MINUTE_MS } from '../base/time.ts';
import { decidedChanges } from '../commands/index.ts';
import { type Answer, countWords, StoredAnswer } from '../domain/answer.ts';
import { type Change, targetKey } from '../domain/change.ts';
import { evolveElsewhere, type FoundElsewhere, type NewEvent } from '../domain/log-events.ts';
import { requirementFor } from '../domain/policy.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { append, listChanges, loadChange } from '../log/index.ts';
import type { ActivityReading } from '../servers/cloud-readings.ts';
import type { Job } from '../storage/index.ts';
import type { WorkflowContext } from './context.ts';
import { targetChanges } from './target.ts';

/** With a failed read between two others, a change is still named within five minutes after it is listed. */
const READ_EVERY_MS = 2 * MINUTE_MS;
/** A start reads back so far. */
const LONGEST_GAP_MS = 7 * DAY_MS;
/** What the server lists later than this is not named; and a request without an answer may be applied so much later. */
const LATE_MS = DAY_MS;

/** To be called often: reads the activities of the organization, and announces what Signalbox did not send. */
export function elsewhereWatch(context: WorkflowContext, audit: string | null) {
  const { events, organization, policy, commands, now } = context;
  const startedAt = now().getTime();
  let [triedAt, readAt] = [0, startedAt - LONGEST_GAP_MS];
  /** The last services with each id: a deleted one has its name and its channel as well. */
  const services = new Map<string, Service>();
  /** The channel is that of the rule for such a change of the service. */
  const placed = ({ id, madeAt, what, by, serviceId, type }: Entry): Placed => {
    const one = services.get(serviceId ?? '');
    const service = cleanText(serviceId ?? '', TEXT_MAX);
    const name = one?.name ?? `service ${service || 'without an id'}`;
    const same = [...commands.values()].find(({ activities }) => activities?.includes(type ?? ''));
    const command = same?.name ?? 'service scale';
    const about = { command, target: one ? serviceTarget(one) : null };
    const { channel } = (one && requirementFor(policy, about)) ?? {};
    return { id, madeAt, service, name, what, by, channel: channel ?? audit };
  };
  return async (): Promise<'not-due' | undefined> => {
    for (const one of context.services()) services.set(one.id, one);
    const at = now().getTime();
    if (at - triedAt < READ_EVERY_MS) return 'not-due';
    triedAt = at;
    const period = { from_date: dayOf(new Date(readAt - LATE_MS)), to_date: dayOf(new Date(at)) };
    const { activities } = context.commandContext().reads.cloud;
    const read = await activities(period, { fresh: true, organization });
    const isOn = read.known || read.gap !== 'off';
    const days = daysBetween(period.from_date, period.to_date);
    const entries = read.known ? entriesIn(organization, read.value, days) : [];
    const causes = await causesOf(context, entries);
    await append(events, async (locked) => {
      const stream = `elsewhere/${organization}` as const;
      const since = (await locked.load(stream, evolveElsewhere)).state?.since ?? null;
      // Nothing before the first start with extended reads is named, nor while they are off.
      if (isOn !== (since !== null))
        return { events: [{ stream, event: { type: isOn ? 'begun' : 'ended' } }], result: null };
      const all = days.map((day) => locked.load(`elsewhere/${day}`, evolveElsewhere));
      const known = (await Promise.all(all)).flatMap(({ state }) => state?.found ?? []);
      const isNew = ({ id, madeAt }: Entry) =>
        madeAt.getTime() >= Number(since) && !known.some((one) => one.id === id);
      const others = withoutOwn(entries.filter(isNew), causes, startedAt);
      return announcement(known, others.map(placed), locked.at);
    });
    context.wake();
    if (!read.known && isOn) throw new Error(`The activities cannot be read: ${read.why}`);
    readAt = at;
    return undefined;
  };
}

const TEXT_MAX = 100;

/** A listed change of a service, of a known time. */
type Entry = ReturnType<typeof decidedChanges>[number] & { readonly madeAt: Date };
type Placed = Omit<FoundElsewhere, 'group' | 'at'>;

/** Each once, the oldest first. A server that ignores the period lists more. */
function entriesIn(organization: string, all: readonly ActivityReading[], days: readonly Day[]) {
  const entries = decidedChanges(all).flatMap((one): readonly Entry[] => {
    const madeAt = new Date(one.createdAt ?? Number.NaN);
    // Two organizations have their own keys, and may have the same id.
    const id = hash('sha256', `${organization}/${one.id}`, 'base64url');
    // Of what has no time, it is not known whether it happened before.
    const isTimed = madeAt.getTime() > 0 && days.includes(dayOf(madeAt));
    return isTimed ? [{ ...one, id, madeAt }] : [];
  });
  const unique = new Map(entries.map((one) => [one.id, one]));
  return [...unique.values()].toSorted((a, b) => a.madeAt.getTime() - b.madeAt.getTime());
}

/** What one actor did is one message of a channel, if it is found within this time after the first of it. */
const RELATED_MS = 5 * MINUTE_MS;

/** Records these changes, and announces the messages that show them. */
function announcement(known: readonly FoundElsewhere[], others: readonly Placed[], at: number) {
  const all = [...known];
  for (const one of others) {
    const isFirst = ({ id, group, by, channel, at: foundAt }: FoundElsewhere) =>
      id === group && by === one.by && channel === one.channel && at - foundAt <= RELATED_MS;
    all.push({ ...one, at, group: all.find(isFirst)?.id ?? one.id });
  }
  const added = all.slice(known.length);
  const events = added.map(({ at: _, ...facts }): NewEvent => {
    return { stream: `elsewhere/${dayOf(facts.madeAt)}`, event: { type: 'found', ...facts } };
  });
  const jobs: Job[] = [];
  for (const [group, { channel }] of new Map(added.map((one) => [one.group, one]))) {
    if (channel === null) continue;
    const answer = StoredAnswer.parse(messageAbout(all.filter((one) => one.group === group)));
    const key = `elsewhere-${group}`;
    events.push({ stream: `post/${key}`, event: { type: 'announced', channel, answer } });
    jobs.push({ kind: 'post', key, dueAt: at });
  }
  return { events, jobs, result: null };
}

const LISTED_MAX = 10;

function messageAbout(all: readonly FoundElsewhere[]): Answer {
  const [first] = all;
  const names = [...new Set(all.map(({ name }) => name))];
  const what = all.length === 1 ? first?.what : countWords(all.length, 'change');
  const more = all.length > LISTED_MAX ? `and ${all.length - LISTED_MAX} more. ` : '';
  const listed = all.slice(0, LISTED_MAX);
  const lines = listed.map((one) => [`${one.name}: ${one.what}, `, { at: one.madeAt }]);
  const offers = [{ label: 'Show service', line: `service show ${first?.service}` }];
  return {
    title: `${what} ${first?.by}: ${cleanText(names.join(', '), TEXT_MAX)}`,
    parts: [
      { kind: 'lines', lines },
      { kind: 'note', text: `${more}Not made with Signalbox.` },
      ...(names.length === 1 ? [{ kind: 'offers', offers } as const] : []),
    ],
  };
}

/** Creations are rare: so many reach further back than what is listed. */
const MOST_CREATIONS = 50;
/** The clock of the server may differ from that of the database by this much. */
const CLOCKS_DIFFER_MS = 5 * MINUTE_MS;

/** What requests of Signalbox may have caused: to the services of these entries, or creating one. */
async function causesOf(context: WorkflowContext, entries: readonly Entry[]) {
  const { events, organization } = context;
  const byKeys = entries.filter(({ actorType }) => actorType === 'api');
  const query = { commands: ['service create'], confirmed: true, limit: MOST_CREATIONS } as const;
  const created = byKeys.length > 0 ? await listChanges(events, query) : [];
  const targets = [
    ...byKeys.map(({ serviceId: id }) => ({ kind: 'service' as const, id: id ?? '' })),
    ...created.map(({ plan }) => plan.target),
  ];
  const keys = new Set(targets.map((target) => targetKey({ organization, plan: { target } })));
  const from = Math.min(...byKeys.map(({ madeAt }) => madeAt.getTime())) - LATE_MS;
  const holdings = await Promise.all([...keys].map((key) => targetChanges(events, key)));
  const sends = holdings.flat().filter(({ since }) => since.getTime() >= from);
  const causes = sends.map(async ({ change, since }) =>
    causedBy(context, await loadChange(events, change), since.getTime()),
  );
  return (await Promise.all(causes)).flat();
}

type Cause = ReturnType<typeof causedBy>[number];

/** The activities of one request, each of its type. */
function causedBy({ commands }: WorkflowContext, change: Change | null, claimedAt: number) {
  const { state, outcome = null, plan } = change ?? {};
  // Nothing was sent, or the server refused it.
  if (!plan || (state !== 'executing' && (outcome?.how ?? 'failed') === 'failed')) return [];
  const answered = outcome?.how === 'succeeded' ? outcome : null;
  const until = answered ? answered.at.getTime() + CLOCKS_DIFFER_MS : claimedAt + LATE_MS;
  // Which service a request without an answer created is not known.
  const isCreation = plan.target.kind === 'new service';
  const service = isCreation ? (answered?.createdId ?? null) : plan.target.id;
  const { activities = [] } = commands.get(change?.command ?? '') ?? {};
  return activities.map((type) => ({ type, service, claimedAt, until, isAnswered: !!answered }));
}

/**
 * Leaves out what requests of Signalbox explain: of its key, service and type, and between the claim and the answer. A
 * request explains one activity of each type. As many as possible are explained, those nearest to a claim first. Before
 * this process started, Signalbox may have had another key.
 */
function withoutOwn(entries: readonly Entry[], causes: readonly Cause[], startedAt: number) {
  const creations = entries.filter(({ type, isOwnKey }) => isOwnKey && type === 'service_create');
  const created = new Set(creations.map(({ serviceId }) => serviceId));
  const own = entries.map((one) => {
    const at = one.madeAt.getTime();
    const possible = causes.filter(
      ({ type, service, claimedAt, until, isAnswered }) =>
        one.type === type &&
        (service === null ? created.has(one.serviceId) : one.serviceId === service) &&
        (one.isOwnKey || (isAnswered && one.actorType === 'api' && at < startedAt)) &&
        at >= claimedAt - CLOCKS_DIFFER_MS &&
        at <= until,
    );
    const distance = Math.min(...possible.map(({ claimedAt }) => Math.abs(at - claimedAt)));
    return { one, possible, distance };
  });
  const explained = new Map<Cause, (typeof own)[number]>();
  /** Finds a cause of an entry, if needed by finding another one for other entries. */
  const explain = (each: (typeof own)[number], tried = new Set<Cause>()): boolean =>
    each.possible.some((cause) => {
      const other = explained.get(cause);
      const isFree = !tried.has(cause) && (!other || explain(other, tried.add(cause)));
      if (isFree) explained.set(cause, each);
      return isFree;
    });
  for (const each of own.toSorted((a, b) => a.distance - b.distance)) explain(each);
  const all = new Set([...explained.values()].map(({ one }) => one));
  return entries.filter((one) => !all.has(one));
}
