import { auditHead, type Head, verifyChain } from '../storage/audit/append.ts';
import { problemSentence } from '../storage/audit/chain-problems.ts';
import type { Db } from '../storage/engine/database.ts';

interface Output {
  readonly out: (text: string) => void;
  /** Writes progress; on a terminal, each text overwrites the line. */
  readonly progress: (text: string) => void;
  readonly isTerminal: boolean;
}

const LINE_EVERY = 100_000;

/** Verifies the audit trail and writes the result. True: every event matches its hash. */
export async function verify(
  db: Db,
  { key, anchor }: { readonly key: Buffer | null; readonly anchor: Head | null },
  output: Output,
): Promise<boolean> {
  const { seq: total } = await auditHead(db);
  const verified = await verifyChain(db, key, {
    onProgress: progressOf(total, output),
    ...(anchor ? { anchor } : {}),
  });
  if (output.isTerminal) output.progress('\r\u001b[K');
  if (!verified.ok) {
    output.out(
      `The audit trail is not intact. ${problemSentence(verified.problem, verified.seq)}\n`,
    );
    if (verified.problem === 'other-key') output.out(`${keyHint(key)}\n`);
    return false;
  }
  const { seq, hash } = await auditHead(db);
  const end = seq === verified.seq ? ` The last event: audit ${seq} ${hash}` : '';
  output.out(`${counted(verified.seq)}, all intact.${end}\n`);
  if (!key) output.out(`${UNKEYED}\n`);
  return true;
}

const UNKEYED =
  'SIGNALBOX_KEY is not set, so this proves little: anyone with write access to the database ' +
  'could have forged the whole trail.';

function keyHint(key: Buffer | null): string {
  return key
    ? 'Either SIGNALBOX_KEY is not the key of the running Signalbox, or the event is forged.'
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

function counted(events: number): string {
  return events === 1 ? '1 event' : `${events} events`;
}
