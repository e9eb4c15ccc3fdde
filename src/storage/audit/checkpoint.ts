import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import type { Head } from './chain.ts';

/** The end of the audit trail outside of the database, where a restored copy does not reach. */
export interface Checkpoint {
  /** Null where none was written yet; throws for one that cannot be read. */
  readonly read: () => Head | null;
  /** On the disk when it returns. An older head than the last one is passed over. */
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
    `${path} cannot be read. If the database was restored, run npm run audit -- restored; then ` +
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

// In the place of the old one in one go: half a line would be taken for a damaged file.
function writeDurably(path: string, text: string): void {
  const fresh = `${path}.new`;
  const file = openSync(fresh, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(fresh, path);
}
