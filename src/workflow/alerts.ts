// Alerts that arrive: reports of the alert service become messages in the channel of their service or team. A message
// follows its alerts until all are ok; alerts of one service within minutes share a message.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  type CommandOffer,
  type InlinePart,
  StoredAnswer,
} from '../domain/answer.ts';
import { evolvePost, type NewEvent } from '../domain/log-events.ts';
import { type CostSelector, selects } from '../domain/policy.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { append } from '../log/index.ts';
import { AlertReport } from '../servers/alert-webhook.ts';
import {
  type AlertReportTable,
  addJobs,
  lockedTransaction,
  reading,
  transaction,
} from '../storage/index.ts';
import type { DecisionContext } from './context.ts';
import type { JobResult } from './jobs.ts';
import { alertReports, dropReports, saveReport } from './store.ts';

/** The channel of the alerts of some services; without a selection, of all alerts. */
export interface AlertChannel {
  readonly channel: string;
  readonly on: CostSelector | null;
}

/** A report as a message shows it. */
const Shown = AlertReport.extend({
  channel: z.string(),
  /** The name of the service; null: the report names none. */
  service: z.string().nullable(),
  /** When it began to fire, and when it ended. */
  since: z.number(),
  endedAt: z.number().nullable(),
});
type Shown = z.output<typeof Shown>;

/** Null for a report that another release stored. */
function shownIn({ report }: Pick<AlertReportTable, 'report'>): Shown | null {
  return Shown.safeParse(JSON.parse(report)).data ?? null;
}

/** Alerts of one service that begin to fire within this time share a message. */
const STORM_MS = 10 * 60_000;
/** Further alerts of a message are collected for this long before it is drawn again. */
const COLLECT_MS = 2_000;

/**
 * `ignored`: the report was delivered before, is older than the last one, or needs no message. What is stored is a
 * cache: without it, a message only does not follow its alert.
 */
export async function receiveAlert(
  context: Pick<DecisionContext, 'store' | 'services' | 'now' | 'wake'>,
  channels: readonly AlertChannel[],
  report: AlertReport,
): Promise<'accepted' | 'ignored'> {
  const { store, services, now, wake } = context;
  const service = serviceIn(report, services());
  const scope = service ? `service ${service.id}` : `alert ${report.id}`;
  const channel = channels.find((each) => selectsService(each, service))?.channel;
  if (channel === undefined) return 'ignored';
  const { at, state } = report;
  const key = JSON.stringify([report.id, report.group]);
  const isFiring = state === 'firing';
  const isAccepted = await lockedTransaction(store, async (tx) => {
    const [last] = await alertReports(tx, 'key', key);
    const before = last ? shownIn(last) : null;
    const wasFiring = before !== null && before.endedAt === null;
    // Reports arrive in any order, and more than once. Of two at the same time, the end counts.
    if (last && (at < last.at || (at === last.at && (isFiring || !wasFiring)))) return false;
    const since = wasFiring ? before.since : at;
    const endedAt = state === 'ok' ? at : null;
    const shown: Shown = { ...report, channel, service: service?.name ?? null, since, endedAt };
    const begins = isFiring && !wasFiring;
    if (!begins && !wasFiring && state !== 'ok') return false;
    const instant = now().getTime();
    const isOpen = (row: AlertReportTable) => row.card !== '' && row.opened_at > instant - STORM_MS;
    const open = begins ? (await alertReports(tx, 'scope', scope)).find(isOpen) : last;
    // The end of an alert that never fired is only remembered, because its begin may arrive later.
    const { card, opened_at } = open ?? { card: begins ? randomUUID() : '', opened_at: instant };
    await saveReport(tx, { key, card, scope, opened_at, at, report: JSON.stringify(shown) });
    // The value of an alert that goes on is no news.
    if (card === '' || before?.state === state) return false;
    await addJobs(tx, { kind: 'alert', key: card, dueAt: instant + (open ? COLLECT_MS : 0) });
    return true;
  });
  if (isAccepted) wake();
  return isAccepted ? 'accepted' : 'ignored';
}

/** The service that the report names, or the only one whose name is a word of its texts. */
function serviceIn({ service, name, group }: AlertReport, all: readonly Service[]) {
  const isNamed = (each: Service) => [each.name, each.id, ...each.aliases].includes(service ?? '');
  const named = all.find(isNamed);
  if (named || service !== null) return named ?? null;
  const words = `${name} ${group ?? ''}`.toLowerCase().split(/[^\p{L}\d._-]+/u);
  const found = all.filter((each) => words.includes(each.name.toLowerCase()));
  return found.length === 1 ? (found[0] ?? null) : null;
}

function selectsService({ on }: AlertChannel, service: Service | null): boolean {
  if (on === null || service === null) return on === null;
  const { teams } = on;
  const isOfTeam = teams === null || teams.includes(service.team ?? '');
  return isOfTeam && selects(on, serviceTarget(service)) === true;
}

/** Draws the message of some alerts: announces what it says now, which is posted once and then updated. */
export async function drawAlerts(
  { store, events, wake }: DecisionContext,
  card: string,
): Promise<JobResult> {
  const rows = await reading(store, (reader) => alertReports(reader, 'card', card));
  const reports = rows.flatMap((row) => shownIn(row) ?? []);
  const [first] = reports;
  if (!first) return 'done';
  const answer = StoredAnswer.parse(alertMessage(reports));
  const stream = `post/alert-${card}` as const;
  await append(events, async (locked) => {
    const { state } = await locked.load(stream, evolvePost);
    if (JSON.stringify(state?.announced?.answer) === JSON.stringify(answer)) return NOTHING;
    const event = { type: 'announced', channel: first.channel, answer } as const;
    const job = { kind: 'post', key: `alert-${card}`, dueAt: locked.at };
    return { events: [{ stream, event } satisfies NewEvent], jobs: [job], result: null };
  });
  wake();
  return 'done';
}

const NOTHING = { events: [], result: null };
const LISTED_MAX = 10;
const MENU_MAX = 50;

/** The message about one alert, or about several of a service. Texts of the reports are literal. */
function alertMessage(all: readonly Shown[]): Answer {
  const reports = all.toSorted(
    (a, b) => Number(isOver(a)) - Number(isOver(b)) || a.since - b.since,
  );
  const [first] = reports;
  const firing = reports.filter((each) => !isOver(each)).length;
  const mark = firing > 0 ? '⚠' : '●';
  const about = first?.service ?? first?.name ?? '';
  const several =
    firing > 0 ? `${firing} of ${all.length} alerts firing` : `all ${all.length} alerts are ok`;
  const title =
    first && all.length === 1 ? `${first.name} ${stateWords(first)}` : `${about}: ${several}`;
  const hidden = reports.length - LISTED_MAX;
  const lines = all.length === 1 ? reports.map(facts) : reports.slice(0, LISTED_MAX).map(listed);
  const more: readonly AnswerPart[] =
    hidden > 0 ? [{ kind: 'note', text: `and ${hidden} more` }] : [];
  return {
    title: `${mark} ${title}`,
    parts: [{ kind: 'lines', lines }, ...more, ...actions(reports)],
  };
}

function isOver({ endedAt }: Shown): boolean {
  return endedAt !== null;
}

/** `is firing: 512, threshold above 100` */
function stateWords({ state, value, threshold }: Shown): string {
  const words =
    state === 'ok' ? 'is ok again' : state === 'no data' ? 'has no data' : `is ${state}`;
  const figures = [value, threshold && `threshold ${threshold}`].filter(Boolean).join(', ');
  return figures === '' ? words : `${words}: ${figures}`;
}

function facts({ service, group, since, endedAt }: Shown): readonly InlinePart[] {
  const began = [endedAt === null ? 'since ' : 'fired ', { at: new Date(since) }];
  const ended = endedAt === null ? [] : [' · ok since ', { at: new Date(endedAt) }];
  const names = [service, group && `group ${group}`].filter(Boolean).map((name) => `${name} · `);
  return [...names, ...began, ...ended];
}

function listed(report: Shown): readonly InlinePart[] {
  const { name, group, service } = report;
  const own = `${isOver(report) ? '●' : '⚠'} ${name}${group ? ` (${group})` : ''}`;
  const rest = facts({ ...report, service: service && null, group: null });
  return [`${own} ${stateWords(report)} · `, ...rest];
}

/** They enter a command as the user who presses them, with all its checks. */
function actions(reports: readonly Shown[]): readonly AnswerPart[] {
  const [first] = reports;
  const names = new Map(reports.flatMap(({ alert, name }) => (alert ? [[alert, name]] : [])));
  const edits = [...names]
    .slice(0, MENU_MAX)
    .map(([id, name]) => ({ label: name, line: `alert edit ${id}` }));
  const [edit] = edits;
  const offers: readonly CommandOffer[] = [
    ...(edit && edits.length === 1 ? [{ ...edit, label: 'Edit threshold…' }] : []),
    ...(first?.service ? [{ label: 'Show service', line: `service show ${first.service}` }] : []),
    ...(first?.service ? [{ label: 'Scale…', line: `service scale ${first.service}` }] : []),
  ];
  return [
    ...(offers.length > 0 ? [{ kind: 'offers', offers } as const] : []),
    ...(edits.length > 1
      ? [{ kind: 'menu', label: 'Edit a threshold…', offers: edits } as const]
      : []),
  ];
}

const KEPT_MS = 30 * DAY_MS;

/** Drops reports after which nothing came for a month. */
export async function pruneAlerts({ store, now }: DecisionContext): Promise<void> {
  await transaction(store, (tx) => dropReports(tx, now().getTime() - KEPT_MS));
}
