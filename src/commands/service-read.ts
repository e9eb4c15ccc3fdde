import { z } from 'zod';
import type { Json, JsonObject } from '../base/text.ts';
import {
  type AnswerPart,
  type AnswerRow,
  type Caller,
  type Cell,
  countWords,
  type FactValue,
  type InlinePart,
  oneLineOf,
} from '../domain/answer.ts';
import type { Change, Snapshot } from '../domain/change.ts';
import { scheduleWords } from '../domain/schedules.ts';
import {
  classOf,
  currentSizeText,
  policyFacts,
  type Service,
  serviceTarget,
} from '../domain/targets.ts';
import { fieldLabel, STATE_WORDS, wordIn, wordOf } from '../domain/words.ts';
import type { ScalingSchedule } from '../servers/cloud-readings.ts';
import { serviceFacts, serviceSnapshot } from '../servers/facts.ts';
import { Details, ServiceName } from './arguments.ts';
import { type CommandContext, queryCommand } from './define.ts';
import { readElsewhere } from './elsewhere.ts';
import { attentionParts, timeOrWord, unknownText } from './reported.ts';
import { readSchedule } from './service-observe.ts';

type ListRead = Awaited<ReturnType<CommandContext['reads']['cloud']['services']>>;

export const serviceList = queryCommand({
  name: 'service list',
  program: 'read',
  title: 'List services',
  summary: 'List the services and their last known state',
  examples: ['service list'],
  args: z.strictObject({}),
  answer: async (_args, { services, reads, changes }, asker) => {
    const [list, open] = await Promise.all([
      reads.cloud.services({ waiting: true }),
      changes.openOf(asker),
    ]);
    const all = linesOf(services, list, open);
    const urgent = all.filter(({ attention }) => attention !== null).slice(0, ROWS_MAX);
    const others = all.filter((line) => !urgent.includes(line));
    const offers = services.map(({ id, name }) => ({ label: name, line: `service show ${id}` }));
    return {
      title: listTitle(all),
      parts: [
        ...attentionParts(urgent.map(urgentRow), tableOf(others), {
          label: 'Show a service…',
          offers,
        }),
        sourceNote(list),
      ],
    };
  },
});

const ROWS_MAX = 8;

/** What the list shows of a service. */
interface ListLine {
  readonly service: Service;
  /** In words; null if it is unknown. */
  readonly state: string | null;
  readonly size: string | null;
  readonly seenAt: Date | null;
  /** Why a person should look at it; null: nothing to do. */
  readonly attention: { readonly rank: number; readonly why: readonly InlinePart[] } | null;
}

/** What needs attention first, then by name. */
function linesOf(services: readonly Service[], list: ListRead, open: readonly Change[]) {
  const rank = ({ attention }: ListLine) => attention?.rank ?? 9;
  return services
    .map((service) => lineOf(service, list, open))
    .toSorted((a, b) => rank(a) - rank(b) || a.service.name.localeCompare(b.service.name));
}

function lineOf(service: Service, list: ListRead, open: readonly Change[]): ListLine {
  const { id, lastSeen } = service;
  const now = list.known ? list.value.find((one) => one.id === id) : undefined;
  const snapshot = list.known && now ? serviceSnapshot(now, list.readAt) : lastSeen;
  const reported = now?.state ?? snapshot?.fields.state;
  const state = typeof reported === 'string' ? reported : null;
  return {
    service,
    state: wordIn(state),
    size: snapshot && currentSizeText(snapshot.fields),
    seenAt: snapshot?.seenAt ?? null,
    attention: attentionOf(
      state,
      open.find(({ plan }) => plan.target.id === id),
    ),
  };
}

/** States in which a service does not work as it should. */
const AILING = ['degraded', 'partially_running', 'failed'];

function attentionOf(state: string | null, change: Change | undefined): ListLine['attention'] {
  if (state !== null && AILING.includes(state)) return { rank: 0, why: [wordOf(state)] };
  if (!change) return null;
  const { id, requester, plan } = change;
  const verb = change.command.split(' ').at(-1) ?? '';
  if (change.state === 'unknown') return { rank: 1, why: [`outcome of ${verb} unknown, ${id}`] };
  const start = plan.timing?.startAt;
  const when: readonly InlinePart[] = start ? [' for ', { at: new Date(start) }] : [];
  const word = `${verb} ${STATE_WORDS[change.state]}`;
  return { rank: 2, why: [word, ...when, ', by ', { user: requester }, `, ${id}`] };
}

/** `1 of 13 services degraded`, `2 of 13 services with an open change`, `13 services, 9 running`. */
function listTitle(all: readonly ListLine[]): string {
  const services = countWords(all.length, 'service');
  const count = (fits: (line: ListLine) => boolean) => all.filter(fits).length;
  const ailing = count(({ attention }) => attention?.rank === 0);
  if (ailing > 0) return `${ailing} of ${services} degraded`;
  const open = count(({ attention }) => attention !== null);
  if (open > 0) return `${open} of ${services} with an open change`;
  const running = count(({ state }) => state === 'running');
  return running > 0 ? `${services}, ${running} running` : services;
}

/** The services as they are known: a title that counts, and a row for each that needs attention. */
export function servicesOverview(
  services: readonly Service[],
  list: ListRead,
  open: readonly Change[],
) {
  const all = linesOf(services, list, open);
  const urgent = all.filter(({ attention }) => attention !== null);
  return { title: listTitle(all), rows: urgent.map(urgentRow) };
}

function urgentRow({ service, state, size, attention }: ListLine): AnswerRow {
  const about = [...(attention?.rank === 0 ? [] : [state]), size].filter((part) => part !== null);
  const rest = about.length > 0 ? [` · ${about.join(' · ')}`] : [];
  return {
    text: service.name,
    about: ['⚠ ', ...(attention?.why ?? []), ...rest],
    show: `service show ${service.id}`,
  };
}

function tableOf(lines: readonly ListLine[]) {
  return {
    kind: 'table',
    caption: 'Services',
    columns: ['Service', 'State', 'Size', 'Tags', 'Warehouse', 'Last seen'],
    rows: lines.map(({ service, state, size, seenAt }) => {
      const { tags, warehouse } = placeOf(service);
      return [service.name, state, size, tags, warehouse, seenAt];
    }),
  } as const;
}

/** What the file says about a service, or the server about one that the file does not list. */
function placeOf({ tags, warehouse, discovered, source }: Service) {
  if (!discovered?.tags) {
    return { tags: (tags?.join(', ') ?? `not listed (${source})`) || null, warehouse };
  }
  const own = ['not listed', ...discovered.tags].join(', ');
  return { tags: own, warehouse: discovered.warehouse };
}

function sourceNote(list: ListRead): AnswerPart {
  const unread = (list.missing ?? []).map(
    ({ name, why }) =>
      `${name} cannot be read: ${why}. Its values are those of the latest replies.`,
  );
  if (list.known) {
    const text = 'Tags of services that are not listed are those of the server.';
    return { kind: 'note', text: [...unread, text].join(' '), asOf: list.readAt };
  }
  if (list.gap === 'off') {
    const text = 'The API has no service list. These are the values of its latest replies.';
    return { kind: 'note', text };
  }
  const text = `The list of services is unknown: ${list.why}. These are the values of the latest replies.`;
  return { kind: 'note', text: unread.length > 0 ? unread.join(' ') : text };
}

export const serviceShow = queryCommand({
  name: 'service show',
  program: 'read',
  title: 'Look up a service',
  summary: 'Show the state, size and last changes of a service',
  examples: ['service show analytics-prod', 'service show analytics-prod details'],
  args: z.strictObject({ service: ServiceName, details: Details }),

  answer: async ({ service, details }, context, asker) => {
    const view = await gather(service, context, asker);
    const isOverview = details === undefined;
    const others = view.changes.filter(({ state }) => state !== 'unknown');
    const facts = isOverview ? [overviewFacts(view)] : [detailFacts(view), elsewhereFacts(view)];
    return {
      title: service.name,
      parts: [
        ...facts.map((each) => ({ kind: 'facts', facts: each }) as const),
        ...unknownPart(view.changes),
        { kind: 'changes', changes: isOverview ? others.slice(0, 1) : others },
        offersPart(view, isOverview),
        ...notePart(view),
      ],
    };
  },
});

type Fact = readonly [label: string, value: FactValue];

/** What is known about a service: read now, else last seen, else nothing. */
type ServiceView = Awaited<ReturnType<typeof gather>>;

async function gather(service: Service, context: CommandContext, asker: Caller) {
  const reading = context.reads.cloud.service(service.id, { waiting: true });
  const [read, schedule, changes, elsewhere, weekly] = await Promise.all([
    reading,
    reading.then((read) => (read.known ? readSchedule(read, context) : read)),
    context.changes.latestOf(serviceTarget(service), asker),
    readElsewhere(service, context, asker),
    context.schedules.of(service.id),
  ]);
  return { service, read, schedule, changes, elsewhere, weekly };
}

/** The most important facts, at most eight; the rest is behind a button. */
function overviewFacts(view: ServiceView): readonly Fact[] {
  const { elsewhere } = view;
  const [last, ...others] = elsewhere.known ? elsewhere.value : [];
  const more = others.length > 0 ? ` · ${others.length} more in 7 days` : '';
  const lastLine: readonly Fact[] = last ? [['Elsewhere', [...last, more]]] : [];
  return [...currentFacts(view), ...weeklyFacts(view), ...lastLine];
}

/** One per line: state, size, idling, schedule, addresses. */
function currentFacts(view: ServiceView): readonly Fact[] {
  const { service, read } = view;
  const fields = knownFields(view);
  const facts: readonly Fact[] = [
    ['State', stateText(view)],
    ['Size', currentSizeText(fields)],
    ['Idling', idlingText(fields)],
    ...(read.known ? [['Schedule', scheduleText(view.schedule)] as const] : []),
    ...('endpoints' in fields ? [['Endpoints', listText(textsIn(fields.endpoints))] as const] : []),
    ...('ipAccessList' in fields
      ? [['IP access', accessText(textsIn(fields.ipAccessList))] as const]
      : []),
  ];
  if (read.known) return facts;
  const { lastSeen, pipes } = service;
  const names = pipes.map(({ name }) => name).join(', ');
  return [
    ...facts,
    ['Pipes', names || null],
    ['Last seen', lastSeen ? [{ at: lastSeen.seenAt }, ` (${lastSeen.source})`] : 'never'],
  ];
}

/** With what is private, for an answer that one person reads. */
function knownFields(view: ServiceView): JsonObject {
  const { read } = view;
  return { ...knownSnapshot(view)?.fields, ...(read.known && serviceFacts(read.value)) };
}

/** The fields that were read now, otherwise those last seen. */
function knownSnapshot({ service, read }: ServiceView): Snapshot | null {
  return read.known ? serviceSnapshot(read.value, read.readAt) : service.lastSeen;
}

function stateText(view: ServiceView): string {
  const { service, read } = view;
  const state = knownSnapshot(view)?.fields.state;
  const known = typeof state === 'string' ? oneLineOf(wordOf(state), 60) : 'unknown';
  const now = read.known ? `${known} (checked just now)` : `${known} when last seen`;
  const { tags, warehouse } = policyFacts(service);
  const names = tags?.map((tag) => oneLineOf(tag, 60)).join(', ');
  const about = [names, warehouse && `warehouse ${oneLineOf(warehouse, 60)}`].filter(Boolean);
  const isSeen = read.known || service.lastSeen !== null;
  return [isSeen ? now : 'unknown', ...about].join(' · ');
}

function idlingText({ idleScaling, idleTimeoutMinutes: minutes }: JsonObject): string | null {
  if (idleScaling === false) return 'off: it costs credits until it is stopped';
  if (idleScaling !== true) return null;
  return minutes === undefined ? 'on' : `after ${minutes} minutes without queries`;
}

function scheduleText(read: ServiceView['schedule']): string {
  if (!read.known) return unknownText(read);
  const entries = scheduleTexts(read.value);
  return entries.length === 0 ? 'none' : listText(entries);
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `Business hours: Mon Tue 06–18 UTC, 64 GB (applies now)`, for each entry of a scaling schedule. */
function scheduleTexts(schedule: ScalingSchedule | null): readonly string[] {
  return (schedule?.entries ?? []).map((entry) => {
    const { name, weekdays, startHourUtc: from, endHourUtc: until, id } = entry;
    const days = (weekdays ?? []).map((day) => DAYS[day]).join(' ');
    const hours =
      from === null || until === null ? '' : `${twoDigits(from)}–${twoDigits(until)} UTC`;
    const isActive = entry.isActiveNow ?? (id !== null && id === schedule?.activeEntryId);
    const { minReplicaMemoryGb, maxReplicaMemoryGb, minReplicas, maxReplicas } = entry;
    const size = currentSizeText({
      ...{ minReplicaMemoryGb, maxReplicaMemoryGb, minReplicas, maxReplicas },
      numReplicas: minReplicas === maxReplicas ? minReplicas : null,
    });
    const times = [days, hours].filter(Boolean).join(' ');
    const what = [times, size].filter(Boolean).join(', ');
    return `${oneLineOf(name ?? 'entry', 60)}: ${what}${isActive ? ' (applies now)' : ''}`;
  });
}

function twoDigits(hour: number): string {
  return String(hour).padStart(2, '0');
}

function accessText(entries: readonly string[]): string {
  if (entries.length === 0) return 'no address';
  return `${countWords(entries.length, 'entry', 'entries')}: ${listText(entries)}`;
}

const LISTED = 3;

function listText(all: readonly string[]): string {
  const shown = all.slice(0, LISTED).map((one) => oneLineOf(one, 150));
  const left = all.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more`] : [])].join(', ');
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

const LINES_MAX = 10;

function elsewhereFacts({ elsewhere }: ServiceView): readonly Fact[] {
  if (!elsewhere.known) return [['Elsewhere', unknownText(elsewhere)]];
  const lines = elsewhere.value.slice(0, LINES_MAX);
  const none = ['no change in the last 7 days'];
  return (lines.length === 0 ? [none] : lines).map((line) => ['Elsewhere', line]);
}

/** Everything that is known, read now or last seen; addresses are for private answers only. */
function detailFacts(view: ServiceView): readonly Fact[] {
  const { service, schedule } = view;
  const { tags, warehouse } = policyFacts(service);
  const known = knownSnapshot(view);
  const own: readonly Fact[] = [
    ['Id', service.id],
    ['Tags', tags?.join(', ') || null],
    ['Warehouse', warehouse],
    ['Team', service.team],
    ['Pipes', service.pipes.map(({ name }) => name).join(', ') || null],
    ['Source', service.source],
    ...seenFacts(knownFields(view)),
  ];
  const entries = schedule.known ? scheduleTexts(schedule.value) : [];
  return [
    ...own,
    ...entries.slice(0, ENTRIES_MAX).map((text): Fact => ['Schedule', text]),
    ['Last seen', known?.seenAt ?? 'never'],
    ...(known ? [['Seen in', known.source] as const] : []),
    ...weeklyFacts(view),
  ];
}

const ENTRIES_MAX = 10;
const LISTED_MAX = 50;

/** The last seen fields with their labels; those of the size are one fact. */
function seenFacts(fields: JsonObject): readonly Fact[] {
  const others = Object.entries(fields).filter(([name]) => !SIZES.includes(name));
  return [
    ['Size', currentSizeText(fields)],
    ...others.flatMap(([name, value]): readonly Fact[] => {
      const all = Array.isArray(value) && value.length > 0 ? value.slice(0, LISTED_MAX) : [value];
      return all.map((one) => [fieldLabel(name), shown(one)]);
    }),
  ];
}

const SIZES: readonly string[] = [
  ...['minReplicaMemoryGb', 'maxReplicaMemoryGb', 'replicaMemoryGb'],
  ...['numReplicas', 'minReplicas', 'maxReplicas', 'applied', 'approximate'],
];

function shown(value: Json): Cell {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return timeOrWord(value);
  if (typeof value === 'number') return value;
  return Array.isArray(value) ? 'none' : JSON.stringify(value);
}

function weeklyFacts({ weekly }: ServiceView): readonly Fact[] {
  return weekly ? [['Stops and starts', [...scheduleWords(weekly), ` · ${weekly.change}`]]] : [];
}

/** An unknown outcome blocks the service, so its question is asked here as well. */
function unknownPart(changes: readonly Change[]): readonly AnswerPart[] {
  return changes
    .filter(({ state }) => state === 'unknown')
    .flatMap((change): readonly AnswerPart[] => [
      { kind: 'changes', changes: [change] },
      { kind: 'text', text: BLOCKED },
      { kind: 'outcome', change },
    ]);
}

const BLOCKED =
  'Other changes of this service are blocked. Check the console, then record what you found.';

function offersPart(view: ServiceView, isOverview: boolean): AnswerPart {
  const { id } = view.service;
  const is = view.read.known ? classOf(view.read.value.state ?? undefined) : null;
  const offers = [
    ...(is === 'down' ? [] : [{ label: 'Stop…', line: `service stop ${id}` }]),
    ...(is === 'up' ? [] : [{ label: 'Start…', line: `service start ${id}` }]),
    { label: 'Scale…', line: `service scale ${id}` },
    ...(isOverview ? [{ label: 'Show details', line: `service show ${id} details` }] : []),
  ];
  return { kind: 'offers', offers };
}

function notePart({ read }: ServiceView): readonly AnswerPart[] {
  return read.known ? [] : [{ kind: 'note', text: `Current state: ${unknownText(read)}` }];
}
