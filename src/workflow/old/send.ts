import { setTimeout as wait } from 'node:timers/promises';
import { ApiError, InvalidRequest } from '../../base/errors.ts';
import type { Change, ExecutionOutcome } from '../../domain/change.ts';
import { gate } from '../../domain/gate.ts';
import { lockStored } from '../../log/old/changes.ts';
import { closingPermit, unlockTarget } from '../../log/old/permits.ts';
import type { VerifiableChange } from '../../log/old/stored-record.ts';
import { learnService } from '../../servers/facts.ts';
import type { SendResult } from '../../servers/sent.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { Statement } from '../../storage/old/together.ts';
import type { WorkflowContext } from './ports.ts';
import { assertAllowed, recordMove } from './record.ts';
import { storeSecret } from './secret.ts';

const FIRST_HAND_BACK_MS = 10_000;
const LONGEST_HAND_BACK_MS = 300_000;
// Covers a database failover, up to the end of the lease.
const RECORD_RETRIES_MS = [0, 200, 1_000, 3_000, 10_000, 15_000, 15_000, 15_000, 15_000, 15_000];

type AttemptResult =
  | { readonly kind: 'ended'; readonly ending: ExecutionOutcome; readonly sent: SendResult | null }
  | { readonly kind: 'not-sent'; readonly retryAfterMs: number; readonly text: string };

/** Sends the request and records the outcome. To be called once per permit, by its process. */
export async function sendAndFinish(
  context: WorkflowContext,
  change: Change,
  permit: number,
  sendBefore: Date,
): Promise<void> {
  const result = (await wroteCheckpoint(context))
    ? await sendInTime(context, change, sendBefore)
    : notSent('The audit trail checkpoint could not be written.');
  await recordResult(context, change, permit, result);
  context.refreshDirectory();
}

/** Hands the permit back where the facts behind it are too old to send. */
async function sendInTime(
  context: WorkflowContext,
  change: Change,
  before: Date,
): Promise<AttemptResult> {
  return context.now() >= before ? notSent('The claim was too old.') : send(context, change);
}

/** The checkpoint proves after a restore that the request may have been sent. */
async function wroteCheckpoint({ trail, log }: WorkflowContext): Promise<boolean> {
  try {
    await trail.writeCheckpoint();
    return true;
  } catch (error) {
    log.error({ err: error }, 'audit trail checkpoint could not be written; nothing is sent');
    return false;
  }
}

function notSent(text: string, retryAfterMs: number = FIRST_HAND_BACK_MS): AttemptResult {
  return { kind: 'not-sent', retryAfterMs, text };
}

async function send(context: WorkflowContext, change: Change): Promise<AttemptResult> {
  const command = context.commands.get(change.command);
  if (!command) return notSent(`This release has no command ${change.command}.`);

  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  try {
    const { target, body } = change.plan;
    const sent = await command.send(target, body, context.commandContext(), change);
    const { requestId, reported, createdId } = sent;
    const at = context.now();
    const ending = {
      ...({ how: 'succeeded', at, tookMs: took(), requestId, reported } as const),
      ...(createdId ? { createdId } : {}),
    };
    return { kind: 'ended', ending, sent };
  } catch (error) {
    context.log.warn({ err: error, change: change.id }, 'request did not succeed');
    const result = resultOf(error, context.now(), took());
    return settle(context, change, result);
  }
}

/** Where the API has a read, a fresh read may show that a request without an answer was applied. */
async function settle(
  context: WorkflowContext,
  change: Change,
  result: AttemptResult,
): Promise<AttemptResult> {
  const read = context.commands.get(change.command)?.verifyOutcome;
  if (result.kind !== 'ended' || result.ending.how !== 'unknown' || !read) return result;
  const { target, body } = change.plan;
  const sent = await read(target, body, context.commandContext(), change).catch(
    (error: unknown) => {
      context.log.warn(
        { err: error, change: change.id },
        'target could not be read after an unknown outcome',
      );
      return null;
    },
  );
  if (!sent) return result;
  const { tookMs } = result.ending;
  const { requestId, reported } = sent;
  const ending = { how: 'succeeded', at: context.now(), tookMs, requestId, reported } as const;
  return { kind: 'ended', ending, sent };
}

function resultOf(error: unknown, at: Date, tookMs: number): AttemptResult {
  if (error instanceof InvalidRequest) {
    return ended('failed', { at, tookMs, text: error.message, requestId: null, status: null });
  }
  if (!(error instanceof ApiError)) {
    // A defect of Signalbox after the permit: the request may have been sent.
    const text = 'An internal error occurred while the request was being sent.';
    return ended('unknown', { at, tookMs, text, requestId: null, status: null });
  }
  if (error.effect === 'not-sent') return notSent(error.sentence, error.retryAfterMs ?? undefined);

  const { requestId, status } = error;
  const how = error.effect === 'refused' ? 'failed' : 'unknown';
  return ended(how, { at, tookMs, text: error.serverText ?? error.sentence, requestId, status });
}

function ended(
  how: 'failed' | 'unknown',
  facts: Omit<ExecutionOutcome & { how: 'failed' }, 'how'>,
): AttemptResult {
  return { kind: 'ended', ending: { how, ...facts }, sent: null };
}

// Without a stored outcome, users would have to check the target, so that storing it is retried.
async function recordResult(
  context: WorkflowContext,
  change: Change,
  permit: number,
  result: AttemptResult,
): Promise<void> {
  for (const pauseMs of RECORD_RETRIES_MS) {
    await wait(pauseMs);
    try {
      await context.database.transaction((tx) => store(tx, context, { change, permit, result }));
      if (result.kind === 'not-sent') context.measures.permitReturned();
      return;
    } catch (error) {
      context.log.warn({ err: error, change: change.id }, 'outcome could not be stored; retrying');
    }
  }
  throw new Error(
    `The outcome of ${change.id} could not be stored. Its lease expires, and it becomes unknown.`,
  );
}

interface FinishedSend {
  readonly change: Change;
  readonly permit: number;
  readonly result: AttemptResult;
}

async function store(
  tx: Tx,
  context: WorkflowContext,
  { change, permit, result }: FinishedSend,
): Promise<void> {
  const locked = await lockStored(tx, change.id);
  // After the lease the change is `unknown`, which a late answer does not overrule.
  if (locked?.change.state !== 'executing' || locked.change.version !== change.version) return;

  // From here on `change` counts, which the audit trail confirmed when it was claimed.
  if (result.kind === 'not-sent')
    return storeNotSent(tx, context, locked, { change, permit, result });
  const { ending, sent } = result;
  const httpStatus = ending.how === 'succeeded' ? 200 : ending.status;
  const closed = { changeId: change.id, n: permit, outcome: ending.how, httpStatus };
  const also: Statement[] = [closingPermit(tx, closed)];
  if (ending.how !== 'unknown') also.push(unlockTarget.with(tx, change.id));
  if (sent?.learned) {
    const learned = { ...sent.learned, source: `reply to ${change.command}`, seenAt: ending.at };
    await learnService(tx, learned);
  }
  if (sent?.secret) await storeSecret(tx, context, change, sent.secret);
  await recordMove(
    tx,
    context,
    change,
    assertAllowed(gate(change, 'finish', { outcome: ending })),
    {
      kind: ending.how,
      by: 'signalbox',
      facts: { requestId: ending.requestId, permit },
      locked,
      also,
    },
  );
}

/** Each claim and each hand-back is an event of the audit trail, so that the waits grow. */
function handBackMs(permit: number, requestedMs: number): number {
  if (permit === 1) return requestedMs;
  const grownMs = FIRST_HAND_BACK_MS * 2 ** (permit - 1);
  return Math.max(requestedMs, Math.min(grownMs, LONGEST_HAND_BACK_MS));
}

async function storeNotSent(
  tx: Tx,
  context: WorkflowContext,
  locked: VerifiableChange,
  { change, permit, result }: FinishedSend & { readonly result: { readonly kind: 'not-sent' } },
): Promise<void> {
  const { retryAfterMs, text } = result;
  const notBefore = new Date(context.now().getTime() + handBackMs(permit, retryAfterMs));
  const closed = { changeId: change.id, n: permit, outcome: 'not-sent', httpStatus: null } as const;
  await recordMove(tx, context, change, assertAllowed(gate(change, 'return', { notBefore })), {
    kind: 'handed-back',
    by: 'signalbox',
    facts: { text },
    locked,
    also: [closingPermit(tx, closed), unlockTarget.with(tx, change.id)],
  });
}
