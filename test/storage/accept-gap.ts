import { recordAcceptance } from '../../src/log/old/accepted-gaps.ts';
import { type MeasuredGap, measureGap } from '../../src/log/old/gap.ts';
import type { AuditKey } from '../../src/log/old/key-ring.ts';
import { findProblem } from '../../src/log/old/verify-chain.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { NOON, user } from './example-change.ts';

export const OPERATORS = [user('UANA'), user('UFINN')] as const;

/** The first gap of the trail that was not accepted. */
export async function presentGap({ db }: Database, key: AuditKey): Promise<MeasuredGap | null> {
  const found = await findProblem(db, key);
  return found.ok ? null : measureGap(db, key, found.walk);
}

export async function gapOf(database: Database, key: AuditKey): Promise<MeasuredGap> {
  const found = await presentGap(database, key);
  if (!found) throw new Error('There is no gap that can be accepted');
  return found;
}

/** Two operators accept the first gap. */
export async function acceptGap(database: Database, key: AuditKey): Promise<MeasuredGap> {
  const found = await gapOf(database, key);
  const [first, by] = OPERATORS;
  const press = { gap: found.gap, problem: 'x', by, at: NOON, first };
  await database.transaction((tx) => recordAcceptance(tx, key, press));
  return found;
}
