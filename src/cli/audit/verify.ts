import type { AcceptedGap } from '../../log/old/accepted-gaps.ts';
import { auditHead, type Head } from '../../log/old/append.ts';
import { problemSentence } from '../../log/old/chain-problems.ts';
import { type ArchiveCheckpoint, lastCheckpoint } from '../../log/old/checkpoints.ts';
import { gapName, measureGap } from '../../log/old/gap.ts';
import type { AuditKey } from '../../log/old/key-ring.ts';
import { findProblem } from '../../log/old/verify-chain.ts';
import { verifySegments } from '../../log/old/verify-segments.ts';
import type { Db } from '../../storage/old/database.ts';

interface Output {
  readonly out: (text: string) => void;
  /** Writes progress; on a terminal, each text overwrites the line. */
  readonly progress: (text: string) => void;
  readonly isTerminal: boolean;
}

interface VerifyRequest {
  readonly key: AuditKey;
  readonly anchor: Head | null;
  /** The folder of the archived events; null: they are not verified. */
  readonly segments?: string | null;
}

const LINE_EVERY = 100_000;

/**
 * Verifies the audit trail and writes the result. True: every event matches its hash, except for gaps
 * that two operators accepted, which are named.
 */
export async function verify(
  db: Db,
  { key, anchor, segments: folder = null }: VerifyRequest,
  output: Output,
): Promise<boolean> {
  const { seq: total } = await auditHead(db);
  const verified = await findProblem(db, key, {
    onProgress: progressOf(total, output),
    ...(anchor ? { anchor } : {}),
  });
  if (output.isTerminal) output.progress('\r\u001b[K');
  if (!verified.ok) {
    output.out(
      `The audit trail is not intact. ${problemSentence(verified.problem, verified.seq)}\n`,
    );
    if (verified.problem === 'other-key') output.out(`${keyHint(key)}\n`);
    const found = await measureGap(db, key, verified.walk);
    if (found) output.out(`This is gap ${gapName(found.gap)}. ${ACCEPTANCE}\n`);
    return false;
  }
  const archived = await lastCheckpoint(db, key);
  if (folder !== null) {
    const segments = await verifySegments(db, key, { folder, anchor });
    if (!segments.ok) {
      output.out(`The audit trail is not intact. ${segments.sentence}\n`);
      return false;
    }
  }
  const { seq, hash } = await auditHead(db);
  const end = seq === verified.seq ? ` The last event: audit ${seq} ${hash}` : '';
  const { accepted = [] } = verified;
  const result = accepted.length === 0 ? 'all intact' : 'intact except for accepted gaps';
  output.out(`${rangeText(verified.seq, archived, folder)}, ${result}.${end}\n`);
  if (archived && folder === null) output.out(unreadText(archived, anchor));
  for (const one of accepted) output.out(`${acceptedLine(one)}\n`);
  if (!key) output.out(`${UNKEYED}\n`);
  return true;
}

const ACCEPTANCE =
  'If it cannot be repaired, two operators can accept it: docs/operating.md#accept-a-gap.';

function acceptedLine({ gap, operators, seq }: AcceptedGap): string {
  const { first, next, previous, following } = gap;
  return (
    `Accepted gap ${gapName(gap)}: from event ${first} to before event ${next}, accepted by ` +
    `${operators.join(' and ')} in event ${seq}. Hash before it: ${previous}. After it: ${following}.`
  );
}

const UNKEYED =
  'SIGNALBOX_KEY is not set, so this proves little: anyone with write access to the database ' +
  'could have forged the whole trail.';

function keyHint(key: AuditKey): string {
  return key
    ? 'Either SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS lack a key of the trail, or the event is forged.'
    : 'SIGNALBOX_KEY is not set, but Signalbox ran with a key.';
}

function progressOf(total: number, { progress, isTerminal }: Output) {
  let reported = 0;
  return (seq: number) => {
    if (isTerminal) return progress(`\r${Math.floor((seq / Math.max(total, 1)) * 100)}%`);
    if (seq - reported < LINE_EVERY) return;
    reported = seq - (seq % LINE_EVERY);
    progress(`${reported} of ${total} events\n`);
  };
}

function rangeText(
  last: number,
  archived: ArchiveCheckpoint | null,
  folder: string | null,
): string {
  if (!archived) return counted(last);
  if (folder !== null) return `${counted(last)}, of which ${archived.last} are in segments`;
  return `Events ${archived.last + 1} to ${last}`;
}

function unreadText({ last, seq }: ArchiveCheckpoint, anchor: Head | null): string {
  const covered =
    anchor && anchor.seq < last ? ` The anchor of event ${anchor.seq} was not compared.` : '';
  return (
    `Events 1 to ${last} are archived, and were not read: event ${seq} is their signed checkpoint. ` +
    `--segments <folder> verifies them as well.${covered}\n`
  );
}

function counted(events: number): string {
  return events === 1 ? '1 event' : `${events} events`;
}
