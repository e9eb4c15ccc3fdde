import { auditHead, type Head, verifyChain } from '../storage/audit/append.ts';
import { problemSentence } from '../storage/audit/chain-problems.ts';
import type { Db } from '../storage/engine/database.ts';

interface Telling {
  readonly out: (text: string) => void;
  /** Progress, and only that; `isTerminal` where a line can be written over. */
  readonly progress: (text: string) => void;
  readonly isTerminal: boolean;
}

const LINE_EVERY = 100_000;

/** True: it is as it was written. */
export async function verify(
  db: Db,
  { key, anchor }: { readonly key: Buffer | null; readonly anchor: Head | null },
  telling: Telling,
): Promise<boolean> {
  const { seq: total } = await auditHead(db);
  const verified = await verifyChain(db, key, {
    onProgress: progressOf(total, telling),
    ...(anchor ? { anchor } : {}),
  });
  if (telling.isTerminal) telling.progress('\r\u001b[K');
  if (!verified.ok) {
    telling.out(`Not as it was written. ${problemSentence(verified.problem, verified.seq)}\n`);
    if (verified.problem === 'other-key') telling.out(`${keyHint(key)}\n`);
    return false;
  }
  const { seq, hash } = await auditHead(db);
  const end = seq === verified.seq ? ` It ends with: audit ${seq} ${hash}` : '';
  telling.out(`${counted(verified.seq)}, all as they were written.${end}\n`);
  if (!key) telling.out(`${UNKEYED}\n`);
  return true;
}

const UNKEYED =
  'SIGNALBOX_KEY is not set, so this proves little: whoever can write to the database could ' +
  'have made the whole trail anew.';

function keyHint(key: Buffer | null): string {
  return key
    ? 'Either SIGNALBOX_KEY is not the one Signalbox runs with, or the event is forged.'
    : 'SIGNALBOX_KEY is not set; Signalbox was running with one.';
}

function progressOf(total: number, { progress, isTerminal }: Telling) {
  let told = 0;
  return (seq: number) => {
    if (isTerminal) return progress(`\r${Math.floor((seq / Math.max(total, 1)) * 100)} %`);
    if (seq - told < LINE_EVERY) return;
    told = seq - (seq % LINE_EVERY);
    progress(`${told} of ${total} events\n`);
  };
}

function counted(events: number): string {
  return events === 1 ? '1 event' : `${events} events`;
}
