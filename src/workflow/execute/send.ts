import { setTimeout as wait } from 'node:timers/promises';
import type { Change, ExecutionOutcome } from '../../changes/change.ts';
import { finish, returnPermit } from '../../changes/lifecycle.ts';
import { ApiError, InvalidRequest, type Secret } from '../../errors.ts';
import type { SendResult } from '../../intent/define.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { lockChange } from '../../storage/tables/changes/changes.ts';
import { closePermit, unlockTarget } from '../../storage/tables/changes/permits.ts';
import { learnService } from '../../storage/tables/directory.ts';
import { seal } from '../../storage/tables/seal.ts';
import { sealSecret } from '../../storage/tables/secrets.ts';
import type { WorkflowContext } from '../ports.ts';
import { mustMove, recordMove } from '../record.ts';

const HAND_BACK_MS = 10_000;
// Through a failover of the database, and until the lease is over: after that it is too late.
const RECORD_AGAIN_MS = [0, 200, 1_000, 3_000, 10_000, 15_000, 15_000, 15_000, 15_000, 15_000];

type Result =
  | { readonly kind: 'ended'; readonly ending: ExecutionOutcome; readonly sent: SendResult | null }
  | { readonly kind: 'not-sent'; readonly retryAfterMs: number; readonly text: string };

/** Only the process that committed the permit comes here, and only once for each permit. */
export async function sendAndFinish(
  context: WorkflowContext,
  change: Change,
  permit: number,
  sendBefore: Date,
): Promise<void> {
  const result = (await isMarked(context))
    ? await sendInTime(context, change, sendBefore)
    : notSent('The end of the audit trail could not be noted outside the database.');
  await recordResult(context, change, permit, result);
  context.refreshDirectory();
}

/** Held up for so long that what allowed it may not hold any more, it begins anew. */
async function sendInTime(context: WorkflowContext, change: Change, before: Date): Promise<Result> {
  return context.now() >= before
    ? notSent('The claim was too old to send.')
    : send(context, change);
}

/** What is sent must be known to have been sent, whichever copy of the database comes back. */
async function isMarked({ trail, log }: WorkflowContext): Promise<boolean> {
  try {
    await trail.writeCheckpoint();
    return true;
  } catch (error) {
    log.error({ err: error }, 'the end of the audit trail was not noted, so nothing is sent');
    return false;
  }
}

function notSent(text: string, retryAfterMs = HAND_BACK_MS): Result {
  return { kind: 'not-sent', retryAfterMs, text };
}

async function send(context: WorkflowContext, change: Change): Promise<Result> {
  const command = context.commands.get(change.command);
  if (!command) return notSent(`The command ${change.command} is gone.`);

  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  try {
    const { target, body } = change.plan;
    const sent = await command.send(target, body, context.commandContext(), change);
    const { requestId, reported } = sent;
    const at = context.now();
    const ending = { how: 'succeeded', at, tookMs: took(), requestId, reported } as const;
    return { kind: 'ended', ending, sent };
  } catch (error) {
    context.log.warn({ err: error, change: change.id }, 'a request did not succeed');
    const result = resultOf(error, context.now(), took());
    return settled(context, change, result);
  }
}

/** Where the API can be read, an attempt without an answer may show by what it left behind. */
async function settled(context: WorkflowContext, change: Change, result: Result): Promise<Result> {
  const settle = context.commands.get(change.command)?.verifyOutcome;
  if (result.kind !== 'ended' || result.ending.how !== 'unknown' || !settle) return result;
  const { target, body } = change.plan;
  const sent = await settle(target, body, context.commandContext(), change).catch(
    (error: unknown) => {
      context.log.warn({ err: error, change: change.id }, 'it could not be looked at again');
      return null;
    },
  );
  if (!sent) return result;
  const { tookMs } = result.ending;
  const { requestId, reported } = sent;
  const ending = { how: 'succeeded', at: context.now(), tookMs, requestId, reported } as const;
  return { kind: 'ended', ending, sent };
}

function resultOf(error: unknown, at: Date, tookMs: number): Result {
  if (error instanceof InvalidRequest) {
    return ended('failed', { at, tookMs, text: error.message, requestId: null, status: null });
  }
  if (!(error instanceof ApiError)) {
    // Our own fault between the permit and the reply: whether bytes left is not known.
    const text = 'Something went wrong on our side while the request was under way.';
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
): Result {
  return { kind: 'ended', ending: { how, ...facts }, sent: null };
}

// The request is out: its result is worth several tries, for without it people must go and look.
async function recordResult(
  context: WorkflowContext,
  change: Change,
  permit: number,
  result: Result,
): Promise<void> {
  for (const pauseMs of RECORD_AGAIN_MS) {
    await wait(pauseMs);
    try {
      return await context.database.transaction((tx) =>
        store(tx, context, { change, permit, result }),
      );
    } catch (error) {
      context.log.warn({ err: error, change: change.id }, 'the ending could not be stored yet');
    }
  }
  throw new Error(`The ending of ${change.id} could not be stored; its lease will run out.`);
}

interface Finished {
  readonly change: Change;
  readonly permit: number;
  readonly result: Result;
}

async function store(
  tx: Tx,
  context: WorkflowContext,
  { change, permit, result }: Finished,
): Promise<void> {
  const before = await lockChange(tx, change.id);
  // The lease ran out meanwhile and the change is `unknown`: a late answer does not overrule that.
  if (before?.state !== 'executing' || before.version !== change.version) return;

  if (result.kind === 'not-sent') return storeNotSent(tx, context, before, permit, result);
  const { ending, sent } = result;
  const status = ending.how === 'succeeded' ? 200 : ending.status;
  await closePermit(tx, change.id, permit, ending.how, status);
  if (ending.how !== 'unknown') await unlockTarget(tx, change.id);
  if (sent?.learned) {
    const learned = { ...sent.learned, source: `reply to ${change.command}`, seenAt: ending.at };
    await learnService(tx, learned);
  }
  if (sent?.secret) await keepSecret(tx, context, change, sent.secret);
  await recordMove(tx, context, before, mustMove(finish(before, ending)), {
    kind: ending.how,
    by: 'signalbox',
    facts: { requestId: ending.requestId, permit },
  });
}

const SECRET_LIVES_MS = 24 * 3_600_000;

// Without a key there is no place for it: it is dropped, and the console can set another one.
async function keepSecret(
  tx: Tx,
  context: WorkflowContext,
  change: Change,
  secret: Secret,
): Promise<void> {
  if (!context.auditKey) return;
  const expiresAt = new Date(context.now().getTime() + SECRET_LIVES_MS);
  const sealed = seal(context.auditKey, secret.reveal(), change.id);
  await sealSecret(tx, { changeId: change.id, sealed, requester: change.requester, expiresAt });
}

async function storeNotSent(
  tx: Tx,
  context: WorkflowContext,
  before: Change,
  permit: number,
  { retryAfterMs, text }: Result & { kind: 'not-sent' },
): Promise<void> {
  const notBefore = new Date(context.now().getTime() + retryAfterMs);
  await closePermit(tx, before.id, permit, 'not-sent', null);
  await unlockTarget(tx, before.id);
  await recordMove(tx, context, before, mustMove(returnPermit(before, notBefore)), {
    kind: 'handed-back',
    by: 'signalbox',
    facts: { text },
  });
}
