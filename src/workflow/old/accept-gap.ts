import { type Answer, type InlinePart, textAnswer } from '../../domain/answer.ts';
import type { Position, UserId } from '../../domain/change.ts';
import { createDenial } from '../../domain/gate.ts';
import type { IncidentClickOutcome } from '../../domain/incidents.ts';
import {
  acceptanceRequests,
  recordAcceptance,
  recordAcceptanceRequest,
} from '../../log/old/accepted-gaps.ts';
import { enqueueRedraw, storePosition } from '../../log/old/announcement.ts';
import { lockHead } from '../../log/old/append.ts';
import { gapId, gapName, type MeasuredGap, measureGap } from '../../log/old/gap.ts';
import { markHandled } from '../../log/old/inbox.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { findProblem } from '../../log/old/verify-chain.ts';
import type { Tx } from '../../storage/old/database.ts';
import { authorizeQuery, mayQuery, type Refused } from './authorize.ts';
import { acceptButton, gapSentence, PACE } from './broken-trail.ts';
import type { DecisionContext } from './ports.ts';
import { appendRefusal } from './record.ts';
import { stopOpenChanges } from './stop-open-changes.ts';

/** What the policy calls it: no command, only a button. */
const COMMAND = 'trail accept';
const TRIES = 5;

export interface GapPress {
  /** The id of the gap that the notice named. */
  readonly gap: string;
  readonly by: UserId;
  /** The message with the button, which is redrawn. */
  readonly message: Position;
  /** The inbox key of the click. */
  readonly key: string;
}

type GapRefusal = 'trail-intact' | 'gap-changed' | 'gap-accepted-before';

/** Handles the press of one operator. The second of two different operators makes the gap pass. */
export async function acceptGap(
  context: DecisionContext,
  press: GapPress,
): Promise<IncidentClickOutcome> {
  const authorized = await authorizeQuery(context, requestOf(press.by));
  if (!authorized.ok) {
    await context.database.transaction((tx) => markHandled(tx, press.key, context.now()));
    return authorized;
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    const outcome = await decide(context, press);
    if (outcome === 'accepted') return afterAcceptance(context);
    if (outcome) return outcome;
  }
  throw new Error(`Other operators pressed ${TRIES} times while a press was handled`);
}

function requestOf(by: UserId) {
  return { command: COMMAND, target: null, by, fresh: true };
}

type Decided = 'accepted' | IncidentClickOutcome;

/** Returns null if another operator pressed meanwhile. */
async function decide(context: DecisionContext, press: GapPress): Promise<Decided | null> {
  const { database, auditKey } = context;
  const broken = await findProblem(database.db, auditKey, PACE);
  if (broken.ok) return refuse(context, press, 'trail-intact');
  const before = await measureGap(database.db, auditKey, broken.walk, PACE.pause);
  if (!before || gapId(before.gap) !== press.gap) return refuse(context, press, 'gap-changed');
  const requests = await acceptanceRequests(database.db, auditKey, before.gap);
  const first = await firstOperator(context, requests, press.by);
  return database.transaction(async (tx) => {
    await lockHead(tx);
    const found = await measureGap(tx, auditKey, broken.walk);
    if (!found || gapId(found.gap) !== press.gap) return null;
    const now = await acceptanceRequests(tx, auditKey, found.gap);
    if (now.length !== requests.length) return null;
    if (first) return storeAcceptance(tx, context, press, { found, first });
    if (requests.includes(press.by)) return refuseIn(tx, context, press, 'gap-accepted-before');
    return storeRequest(tx, context, press, found);
  });
}

/** Returns another operator who accepted this gap and may still do so, by a lookup right now. */
async function firstOperator(
  context: DecisionContext,
  requests: readonly UserId[],
  by: UserId,
): Promise<UserId | null> {
  for (const user of requests) {
    if (user !== by && (await mayQuery(context, requestOf(user)))) return user;
  }
  return null;
}

async function storeRequest(
  tx: Tx,
  context: DecisionContext,
  press: GapPress,
  found: MeasuredGap,
): Promise<IncidentClickOutcome> {
  const { gap } = found;
  const { by } = press;
  const at = context.now();
  const request = { gap, problem: gapSentence(found), by, at };
  await recordAcceptanceRequest(tx, context.auditKey, request);
  const state = ['Accepted by ', { user: by }, '. A different operator must accept it too.'];
  await finish(tx, context, press, { found, state, open: true });
  const text = `You accepted gap ${gapName(gap)}. A different operator must accept it too.`;
  return { ok: true, answer: textAnswer('Gap of the audit trail', text) };
}

async function storeAcceptance(
  tx: Tx,
  context: DecisionContext,
  press: GapPress,
  { found, first }: { readonly found: MeasuredGap; readonly first: UserId },
): Promise<'accepted'> {
  const { gap } = found;
  const { by } = press;
  const at = context.now();
  const acceptance = { gap, problem: gapSentence(found), by, at, first };
  await recordAcceptance(tx, context.auditKey, acceptance);
  // The gap may have held the execution of a change whose old row was put back.
  const inTx = (work: (own: Tx) => Promise<void>) => work(tx);
  const stopped = await stopOpenChanges(context, { why: 'gap-accepted', db: tx, inTx });
  const state = ['Accepted by ', { user: first }, ' and ', { user: by }, '.'];
  await finish(tx, context, press, { found, state, open: false });
  const text = `Gap ${gapName(gap)} of the audit trail is accepted. Signalbox verifies the whole trail now. ${stoppedText(stopped.length)} `;
  await enqueueOperatorsNotice(tx, text, at, { line: state });
  context.log.warn(
    { gap, operators: [first, by], changes: stopped },
    'a gap of the audit trail was accepted',
  );
  return 'accepted';
}

function stoppedText(count: number): string {
  if (count === 0) return 'There were no open changes.';
  return `The open changes are stopped (${count}); each card says so. Request them again if needed.`;
}

interface Drawn {
  readonly found: MeasuredGap;
  readonly state: InlinePart[];
  readonly open: boolean;
}

async function finish(
  tx: Tx,
  { now }: DecisionContext,
  { key, message }: GapPress,
  { found, state, open }: Drawn,
): Promise<void> {
  const answer: Answer = {
    title: `Gap ${gapName(found.gap)} of the audit trail`,
    parts: [
      { kind: 'text', text: gapSentence(found) },
      { kind: 'lines', lines: [state] },
      ...(open ? [{ kind: 'actions', actions: [acceptButton(found)] } as const] : []),
    ],
  };
  const post = `gap ${gapId(found.gap)} ${message.ts}`;
  await storePosition(tx, post, message);
  await enqueueRedraw(tx, { key: post, answer }, now());
  await markHandled(tx, key, now());
}

async function afterAcceptance(context: DecisionContext): Promise<IncidentClickOutcome> {
  await context.trail.verifyAll();
  const problem = await context.trail.problem(context.database.db);
  context.wake();
  const text = problem
    ? `The gap is accepted. Executions are still stopped by another problem: ${problem}`
    : 'The gap is accepted. The rest of the audit trail is intact, so new requests can run.';
  return { ok: true, answer: textAnswer('Gap of the audit trail', text) };
}

function refuse(context: DecisionContext, press: GapPress, refusal: GapRefusal): Promise<Refused> {
  return context.database.transaction((tx) => refuseIn(tx, context, press, refusal));
}

async function refuseIn(
  tx: Tx,
  context: DecisionContext,
  { by, key }: GapPress,
  refusal: GapRefusal,
): Promise<Refused> {
  const denial = createDenial(refusal, { command: COMMAND });
  await appendRefusal(tx, context, { kind: COMMAND, by }, denial);
  await markHandled(tx, key, context.now());
  return { ok: false, denial };
}
