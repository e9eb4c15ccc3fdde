import { createPublicKey } from 'node:crypto';
import { sql } from 'kysely';
import type { ChangeId, UserId } from '../../src/domain/change.ts';
import { draftChange } from '../../src/domain/draft.ts';
import { foldOf } from '../../src/domain/fold.ts';
import type { EventOf, NewEvent, StreamName } from '../../src/domain/log-events.ts';
import { type EventRow, hashText } from '../../src/log/chain.ts';
import { isSignedBy, type LogKeys, signingKey } from '../../src/log/keys.ts';
import { append, type Log, openLog } from '../../src/log/log.ts';
import {
  dropEventGuards,
  type Store,
  type StoreOptions,
  transaction,
} from '../../src/storage/index.ts';
import { PLAN, REQUIRES } from '../domain/changes-fixtures.ts';
import { type Engine, emptyUrl } from '../storage/engines.ts';
import { storeAt } from '../storage/stores.ts';

export const key = (fill: number) => signingKey(Buffer.alloc(32, fill));
export const KEYS: LogKeys = { current: key(1), previous: [] };

/** A database of its own. `open` is a process that starts on it; only the first one migrates it. */
export interface Installation {
  readonly open: (keys?: LogKeys, options?: StoreOptions) => Promise<Log>;
}

export async function installation(engine: Engine): Promise<Installation> {
  const url = await emptyUrl(engine);
  let opened = false;
  return {
    open: async (keys = KEYS, options = {}) => {
      const as = opened ? 'beside' : 'bot';
      opened = true;
      return openLog(await storeAt(url, { as, ...options }), keys);
    },
  };
}

export async function freshLog(engine: Engine, keys = KEYS): Promise<Log> {
  return (await installation(engine)).open(keys);
}

export const user = (name: string) => name as UserId;
export const idOf = (name: string) => name as ChangeId;

type ChangeEvent = EventOf<`change/${string}`>;

/** The digest to which approvals are bound. */
export const DIGEST = 'digest-1';

export function drafted(count = 1): ChangeEvent {
  const requires = { ...REQUIRES, count };
  const fields = { organization: 'acme', command: 'service stop', requester: user('UANA') };
  const request = { ...fields, reason: 'the weekend', plan: PLAN, requires };
  return { ...draftChange(request, new Date(9_000_000_000_000)), digest: DIGEST };
}

export const confirmed: ChangeEvent = { type: 'confirmed', by: user('UANA'), press: 'p1' };
export const approved = (by = 'UBEN', digest = DIGEST): ChangeEvent => ({
  ...{ type: 'approved', by: user(by), press: 'p2', digest, evidence: { groups: [] } },
});

/** Appends events of one stream, as one decision. */
export async function write<Name extends StreamName>(
  log: Log,
  stream: Name,
  ...events: readonly EventOf<Name>[]
): Promise<void> {
  const all = events.map((event) => ({ stream, event }) as unknown as NewEvent);
  await append(log, async () => ({ events: all, result: null }));
}

/** A change that is approved: three events. */
export async function approvedChange(log: Log, id: string): Promise<void> {
  await write(log, `change/${id}`, drafted(), confirmed, approved());
}

export async function stateOf(log: Log, id: string) {
  return (await log.load(`change/${id}`, foldOf(idOf(id)))).state?.state;
}

export async function rowsIn(store: Store): Promise<readonly EventRow[]> {
  const { rows } = await sql<EventRow>`select * from event order by seq`.execute(store.root);
  return rows;
}

/** A file of evidence or of an export, as a person reads it who has the public key only. */
export function readSigned(file: string, publicKey: string) {
  const lines = file.split(/(?<=\n)/);
  const digest = hashText(lines.slice(0, -1).join(''));
  const [header, ...rows] = lines.map((line) => JSON.parse(line));
  const { signature } = rows.pop();
  const isSigned = isSignedBy(createPublicKey(publicKey), `${header.format}\n${digest}`, signature);
  const columns = Object.keys(rows[0]).slice(0, 6).join();
  return { header, rows, digest, isSigned, columns };
}

/** An attacker who owns the database, so that they can drop its rules, but has no key. */
export async function tamper(store: Store, ...statements: readonly string[]): Promise<void> {
  await transaction(store, async (tx) => {
    const drop = dropEventGuards(store.engine).map((each) =>
      each.replace('trigger', 'trigger if exists'),
    );
    for (const statement of [...drop, ...statements]) await sql.raw(statement).execute(tx);
  });
}

/** Writes a row as it is, in the place of another one. */
export async function replaceRow(store: Store, row: EventRow): Promise<void> {
  await tamper(store, `delete from event where seq = ${row.seq}`, insertion(row));
}

export function insertion(row: EventRow): string {
  const values = Object.values(row).map((value) =>
    typeof value === 'number'
      ? value
      : value === null
        ? 'null'
        : `'${value.replaceAll("'", "''")}'`,
  );
  return `insert into event (${Object.keys(row).join()}) values (${values.join()})`;
}
