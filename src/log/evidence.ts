import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/text.ts';
import type { EventRow } from './chain.ts';
import { type LogKeys, type SigningKey, signText } from './keys.ts';
import {
  appendProblem,
  byStreamUnder,
  follow,
  head,
  type Log,
  readChain,
  verifiedRows,
} from './log.ts';

/** Takes a piece of a file, which ends with a line break. */
export type WriteLine = (line: string) => Promise<void> | void;

interface SignedFile {
  readonly format: string;
  readonly header: JsonObject;
  /** Calls `write` for each event, in the order of the file. */
  readonly rows: (write: (row: EventRow) => Promise<void>) => Promise<void>;
  readonly key: SigningKey;
}

/**
 * Writes a file of lines: a header, one event per line, and a signature over every byte before it, so that no
 * modified file is accepted. Returns the SHA-256 of these bytes. Source: docs/verify/README.md#the-format
 */
export async function writeSigned(
  { format, header, rows, key }: SignedFile,
  write: WriteLine,
): Promise<string> {
  const hash = createHash('sha256');
  const line = async (content: JsonObject) => {
    const text = `${JSON.stringify(content)}\n`;
    hash.update(text);
    await write(text);
  };
  await line({ format, ...header });
  await rows((row) => line(contentOf(row)));
  const digest = hash.digest('base64url');
  await write(`${JSON.stringify({ signature: signText(key, `${format}\n${digest}`) })}\n`);
  return digest;
}

/** Always in this order, whatever the database returns. */
function contentOf(row: EventRow): JsonObject {
  const { seq, stream, version, type, at, body, body_hash, prev, hash, key, signature } = row;
  return { seq, stream, version, type, at, body, body_hash, prev, hash, key, signature };
}

/**
 * Returns the file with all events of one change and of its presses, for people who have the public key only. Null for
 * a change that the log does not know. Throws for one whose bodies were pruned, and where this process may not sign.
 */
export async function evidenceOf(log: Log, id: string): Promise<string | null> {
  await follow(log);
  const key = signingKeyOf(log);
  const end = head(log);
  const change = await verifiedRows(log, `change/${id}`);
  if (change.length === 0) return null;
  const presses = await byStreamUnder(log, `press/${id}`);
  const own = [...change, ...[...presses.values()].flat()];
  if (own.some(({ body }) => body === null)) {
    throw new Error(`The events of change ${id} were pruned: use the export that was made before`);
  }
  // Without them, nobody could follow from the current key to the one that signed the events.
  const installation = await verifiedRows(log, 'installation');
  const changesOfKey = installation.filter(({ type }) => type === 'key-changed');
  const byStream = Map.groupBy(own, ({ stream }) => stream);
  const streams = Object.fromEntries([...byStream].map(([name, rows]) => [name, rows.length]));
  const lines: string[] = [];
  const file = {
    format: 'signalbox evidence 1',
    header: { subject: `change/${id}`, key: key.id, head: { ...end }, streams },
    rows: async (write: (row: EventRow) => Promise<void>) => {
      const rows = [...own, ...changesOfKey].toSorted((one, other) => one.seq - other.seq);
      for (const row of rows) await write(row);
    },
    key,
  };
  await writeSigned(file, (line) => void lines.push(line));
  return lines.join('');
}

/**
 * Writes the whole log up to its current end, verified, in the same format. Returns the SHA-256 of its content, which
 * `prune` records. Throws `Damaged` where the log does not verify: then the file has no signature.
 */
export async function exportLog(log: Log, write: WriteLine): Promise<string> {
  await follow(log);
  const key = signingKeyOf(log);
  const end = head(log);
  const rows = async (line: (row: EventRow) => Promise<void>) => {
    await readChain(log, async (batch) => {
      for (const row of batch) if (row.seq <= end.seq) await line(row);
    });
  };
  const header = { from: log.memory.chain.first, key: key.id, head: { ...end } };
  return writeSigned({ format: 'signalbox export 1', header, rows, key }, write);
}

function signingKeyOf(log: Log): SigningKey {
  const problem = appendProblem(log);
  if (problem) throw problem;
  return log.keys.current;
}

/** The public key for people outside, who verify with it and cannot forge. */
export function publicKeyPem({ current }: LogKeys): string {
  return current.publicKey.export({ type: 'spki', format: 'pem' }).toString();
}
