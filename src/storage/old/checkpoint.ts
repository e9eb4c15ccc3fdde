import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { giveToFolderOwner } from '../sqlite.ts';

/** The head of the audit trail in a file that a restore of the database does not replace. */
export interface Checkpoint {
  /** Returns null if there is no file yet; throws if it cannot be read. */
  readonly read: () => Head | null;
  /** Returns after the head is on the disk. Ignores a head older than the last one. */
  readonly write: (head: Head) => void;
}

export function openCheckpoint(databasePath: string): Checkpoint {
  const path = `${databasePath}.head`;
  let written = -1;
  return {
    read: () => readHead(path),
    write: (head) => {
      if (head.seq <= written) return;
      writeDurably(path, `${head.seq} ${head.hash}\n`);
      written = head.seq;
    },
  };
}

function readHead(path: string): Head | null {
  const text = textOf(path);
  if (text === null) return null;
  const [, seq, hash] = /^(\d{1,15}) ([0-9a-f]{64})\n$/.exec(text) ?? [];
  if (seq && hash) return { seq: Number(seq), hash };
  throw new Error(
    `${path} cannot be read. If the database was restored, run signalbox audit restored; then ` +
      'delete that file.',
  );
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

// Replaces the file atomically: half a line would look like a damaged file.
function writeDurably(path: string, text: string): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  giveToFolderOwner(temporary);
  renameSync(temporary, path);
}

/** The end of the chain. A copy outside the database detects a tail that was cut. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}
