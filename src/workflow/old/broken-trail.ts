import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { lockHead } from '../../log/old/append.ts';
import { problemSentence } from '../../log/old/chain-problems.ts';
import { gapId, gapName, type MeasuredGap, measureGap } from '../../log/old/gap.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { recordTrailMark, storedTrailError, storeTrailError } from '../../log/old/trail-marks.ts';
import type { BrokenChain } from '../../log/old/verify-chain.ts';
import type { Db, Tx } from '../../storage/old/database.ts';
import { ACCEPT_GAP } from './clicks.ts';
import type { DecisionContext } from './ports.ts';

export type TrailContext = Pick<DecisionContext, 'database' | 'auditKey' | 'log' | 'now'>;

/** The event loop serves nothing else during a batch. */
export const PACE = { batch: 250, pause: () => yieldToOthers() };

interface Description {
  readonly problem: string;
  readonly found: MeasuredGap | null;
}

/**
 * Stores a problem of the trail, so that all replicas stop, and returns it as a sentence. The replica
 * that stores it notifies the operators.
 */
export async function reportBrokenTrail(
  context: TrailContext,
  broken: BrokenChain,
): Promise<string> {
  const { database, auditKey, log } = context;
  const { problem } = await describe(database.db, auditKey, broken);
  log.error({ problem }, 'the audit trail does not match its hashes; executions stop');
  if ((await storedTrailError(database.db)) === problem) return problem;
  return database
    .transaction((tx) => storeProblem(tx, context, broken, { marks: true }))
    .catch((error: unknown) => {
      // Nothing can be appended to a trail without its head; the stored problem stays.
      log.warn({ err: error }, 'broken trail was not recorded');
      return database.transaction((tx) => storeProblem(tx, context, broken, { marks: false }));
    });
}

/** A cut tail becomes a gap that can be accepted when the mark follows it. */
async function storeProblem(
  tx: Tx,
  { auditKey, now }: TrailContext,
  broken: BrokenChain,
  { marks }: { readonly marks: boolean },
): Promise<string> {
  await lockHead(tx);
  const before = await storedTrailError(tx);
  if (marks) {
    const problem = problemSentence(broken.problem, broken.seq);
    await recordTrailMark(tx, auditKey, 'trail-broken', { problem, at: now() });
  }
  const { problem, found } = await describe(tx, auditKey, broken);
  if (!(await storeTrailError(tx, before, problem))) return problem;
  const actions = found ? [acceptButton(found)] : [];
  await enqueueOperatorsNotice(tx, noticeText(problem, found), now(), { actions });
  return problem;
}

async function describe(
  db: Db,
  keys: TrailContext['auditKey'],
  { walk, seq, problem }: BrokenChain,
): Promise<Description> {
  const found = await measureGap(db, keys, walk, PACE.pause);
  if (!found) return { problem: problemSentence(problem, seq), found };
  return { problem: gapSentence(found), found };
}

/** `Event 7 does not match its hash: … Gap 1a2b3c4d: from event 7 to before event 8.` */
export function gapSentence({ gap, problem }: MeasuredGap): string {
  const { first, next } = gap;
  const range =
    first === next ? `between events ${first - 1} and ${first}` : eventRange(first, next);
  return `${problemSentence(problem, first)} Gap ${gapName(gap)}: ${range}.`;
}

function eventRange(first: number, next: number): string {
  return next === first + 1 ? `event ${first}` : `events ${first} to ${next - 1}`;
}

function noticeText(problem: string, found: MeasuredGap | null): string {
  const accept = found ? ' If it cannot be repaired, two operators can accept the gap.' : '';
  return (
    `The audit trail does not match its hashes. ${problem} Signalbox executes no change until an ` +
    'operator has checked it; queries still work. Run “signalbox audit verify” for the same result.' +
    accept
  );
}

/** The button with which an operator accepts a gap; its value is the id of the gap. */
export function acceptButton(found: MeasuredGap) {
  const text =
    `${gapSentence(found)} When two operators accept it, all open changes end and must be requested again. ` +
    'The trail and every later verification still name the gap.';
  return {
    id: ACCEPT_GAP,
    label: 'Accept gap…',
    value: gapId(found.gap),
    confirm: { title: 'Accept this gap?', text, ok: 'Accept gap' },
  };
}
