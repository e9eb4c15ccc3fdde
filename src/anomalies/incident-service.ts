import type { Position, UserId } from '../changes/change.ts';
import { expectIncident, isOver, muteIncident } from '../costs/anomaly/incident.ts';
import { isKin, type Unusual } from '../costs/anomaly/unusual.ts';
import { addDays, type Day, dayOf } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { figure } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { decide } from '../policy/decide.ts';
import { appendEvent } from '../storage/audit/append.ts';
import type { Tx } from '../storage/engine/database.ts';
import { replaceMeta } from '../storage/tables/meta.ts';
import { markHandled } from '../storage/tables/queues/inbox.ts';
import type { IncidentClick, IncidentClickOutcome, IncidentService } from '../workflow/clicks.ts';
import { type Denial, denialOf } from '../workflow/denial.ts';
import { enqueueReport, positionOf } from '../workflow/notify/announcement.ts';
import type { DecisionContext } from '../workflow/ports.ts';
import { deedsOf, incidentStateText, mutedUntil, unusualText } from './anomaly-text.ts';
import { incidentId, storeUnusual, unusualSince } from './incident-store.ts';
import { redrawTold } from './redraw-announcements.ts';
import { readWatch, WATCH_KEY } from './watch-state.ts';

const COMMAND = 'cost anomalies';
const REMEMBERED_DAYS = 120;
const TRIES = 5;

/** Whoever may ask for the list of incidents may look at each, and say what to do about it. */
export function createIncidents(context: DecisionContext): IncidentService {
  return {
    press: (press) => pressIncident(context, press),
    details: (request) => showIncident(context, request),
  };
}

async function showIncident(
  context: DecisionContext,
  { id, by }: Pick<IncidentClick, 'id' | 'by'>,
): Promise<IncidentClickOutcome> {
  const denial = await mayPress(context, by);
  return denial ? { ok: false, denial } : { ok: true, answer: await detailsOf(context, id) };
}

async function pressIncident(
  context: DecisionContext,
  press: IncidentClick,
): Promise<IncidentClickOutcome> {
  const denial = await mayPress(context, press.by);
  if (denial) {
    await handled(context, press);
    return { ok: false, denial };
  }
  // The watch itself may move on in between; then what is pressed is decided on what is there now.
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await settle(context, press);
    if (answer) return { ok: true, answer };
  }
  throw new Error('The watch moved on each time while a press was written down');
}

async function handled({ database, now }: DecisionContext, { key }: IncidentClick): Promise<void> {
  await database.transaction((tx) => markHandled(tx, key, now()));
}

async function mayPress(context: DecisionContext, by: UserId): Promise<Denial | null> {
  const identity = await context.people.identify(by, { fresh: true });
  const about = { command: COMMAND };
  if (!identity.ok) return denialOf(identity.refusal, about);
  const { actor } = identity;
  const question = { kind: 'query', command: COMMAND, target: null, reason: null } as const;
  const decision = decide(context.policy, { ...question, actor, now: context.now() });
  if (decision.allow) return null;
  const role = decision.rule?.to ?? null;
  const who = role ? await context.people.membersOf(role) : null;
  return denialOf(decision.refusal, { ...about, rule: decision.rule?.place ?? null, role, who });
}

async function settle(context: DecisionContext, press: IncidentClick): Promise<Answer | null> {
  const now = context.now();
  const today = dayOf(now);
  const { db } = context.database;
  const seen = await readWatch(db);
  const all = await unusualSince(db, addDays(today, -REMEMBERED_DAYS));
  const meant = all.find((one) => incidentId(one) === press.id);
  if (!meant || !seen.state || isOver(meant.incident)) {
    await handled(context, press);
    const title = meant
      ? `${meant.name}: ${incidentStateText(meant)}`
      : 'That is not known any more';
    return { title, parts: [] };
  }

  const moved = all
    .filter((one) => isKin(one, meant) && !isOver(one.incident))
    .map((one) => movedBy(one, press.verb, today));
  const state = { ...seen.state, version: seen.state.version + 1 };
  const text = doneText(meant, press, today);
  const above = await positionOf(context, `incident ${press.id}`);
  const stored = await context.database.transaction(async (tx) => {
    if (!(await replaceMeta(tx, WATCH_KEY, seen.text, JSON.stringify(state)))) return false;
    for (const one of moved) {
      await storeUnusual(tx, one, now);
      await redrawTold(tx, one, now);
    }
    await enqueueNote(tx, context, { meant, press, above, text });
    const body = { by: press.by, line: meant.line, name: meant.name, since: meant.incident.since };
    await appendEvent(tx, context.auditKey, { kind: `incident-${press.verb}`, at: now, body });
    await markHandled(tx, press.key, now);
    return true;
  });
  if (!stored) return null;
  context.wake();
  return { title: meant.name, parts: [{ kind: 'text', text }] };
}

function movedBy(one: Unusual, verb: IncidentClick['verb'], today: Day): Unusual {
  const { incident } = one;
  const moved =
    verb === 'expected' ? expectIncident(incident) : muteIncident(incident, mutedUntil(today));
  return { ...one, incident: moved };
}

function doneText({ incident }: Unusual, { verb }: IncidentClick, today: Day): string {
  return verb === 'expected'
    ? `Noted as expected. What is usual is learnt anew from ${dayLabel(incident.since)} on.`
    : `Muted: nobody is told of it until ${dayLabel(mutedUntil(today))} (UTC). It is followed all the same.`;
}

/** Below the message that told of it, for everyone else who reads it. */
async function enqueueNote(tx: Tx, context: DecisionContext, note: Note): Promise<void> {
  const { meant, press, above, text } = note;
  if (!above) return;
  const now = context.now();
  const id = incidentId(meant);
  const answer: Answer = { title: meant.name, parts: [{ kind: 'text', text }] };
  const key = `incident ${id} ${press.verb} ${dayOf(now)}`;
  const report = { key, channel: above.channel, thread: `incident ${id}`, answer };
  await enqueueReport(tx, report, now);
}

interface Note {
  readonly meant: Unusual;
  readonly press: IncidentClick;
  /** The message that told of it; null where none did. */
  readonly above: Position | null;
  readonly text: string;
}

const SHOWN_DAYS = 20;

async function detailsOf(context: DecisionContext, id: string): Promise<Answer> {
  const today = dayOf(context.now());
  const all = await unusualSince(context.database.db, addDays(today, -REMEMBERED_DAYS));
  const meant = all.find((one) => incidentId(one) === id);
  if (!meant) return { title: 'That is not known any more', parts: [] };
  const days = meant.incident.days.slice(-SHOWN_DAYS);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text: unusualText(meant) },
    {
      kind: 'table',
      columns: ['Day (UTC)', 'Off by', 'Unusual', 'Final'],
      rows: days.map(({ day, excess, unusual, final }) => [
        day,
        { value: excess, text: figure(microOf(excess)) },
        unusual ? 'yes' : 'no',
        final ? 'yes' : 'not yet',
      ]),
    },
    {
      kind: 'offers',
      offers: [{ label: 'Costs of these weeks', line: 'cost 30d by day' }],
    },
    deedsOf(meant),
  ];
  return { title: meant.name, parts };
}
