import type { UserId } from '../../changes/change.ts';
import { InvalidRequest } from '../../errors.ts';
import type { FreezeEnd, FreezeService, FreezeUntil } from '../../intent/arguments/freezes.ts';
import {
  activeFreezes,
  hasFreeze,
  insertFreeze,
  liftFreeze,
} from '../../storage/tables/freezes.ts';
import { deliverNow } from '../../storage/tables/queues/outbox.ts';
import type { DecisionContext } from '../ports.ts';
import { policyNow, standingFreeze } from '../request/current-policy.ts';
import { startTimeOf } from '../request/start-time.ts';
import { THAWED } from '../revert/unfrozen.ts';

export type FreezeContext = Pick<DecisionContext, 'database' | 'policy' | 'people' | 'now'>;

const AT_ITS_END = { field: 'until', problem: 'has passed already' };
const LIFTED = { field: 'the freeze', problem: 'is over, or somebody has lifted it already' };

const LONGEST_MS = 90 * 86_400_000;
const MINUTE_MS = 60_000;

/** Freezes that are made in Slack. Who may is decided before, by the policy, as for any change. */
export function createFreezeService(context: FreezeContext): FreezeService {
  const { database, now } = context;
  return {
    all: async () => {
      const { freezes } = await policyNow(database.db, context);
      return freezes.filter(({ until }) => now() < until);
    },
    madeInSlack: async () => (await activeFreezes(database.db, now())).map(standingFreeze),
    endOf: (until, by) => endOf(context, until, by),
    make: async ({ id, by, reason }, { scope, until }) => {
      const from = now();
      if (until <= from) throw new InvalidRequest('freeze', [AT_ITS_END]);
      const freeze = { id, scope: { ...scope }, reason: reason ?? '', createdBy: by, from, until };
      await database.transaction((tx) => insertFreeze(tx, freeze));
    },
    wasMade: (id) => hasFreeze(database.db, id),
    lift: async ({ by }, id) => {
      const lifted = await database.transaction(async (tx) => {
        await deliverNow(tx, THAWED, now());
        return liftFreeze(tx, { id, by, at: now() });
      });
      if (!lifted) throw new InvalidRequest('thaw', [LIFTED]);
    },
  };
}

async function endOf(
  { people, now }: FreezeContext,
  until: FreezeUntil,
  by: UserId,
): Promise<FreezeEnd> {
  if ('at' in until) return { ok: true, at: until.at };
  const asked = 'inMs' in until ? { at: null, ...until } : { at: until, inMs: null };
  const asksClock = asked.at !== null && asked.at.offset === null;
  const zone = asksClock ? await people.zoneOf(by) : null;
  const wall = { zone, now: now(), latestMs: LONGEST_MS };
  const end = startTimeOf({ ...asked, forMs: null }, wall);
  if (!end.ok) {
    return {
      ok: false,
      problems: end.problems.map(({ problem }) => ({ field: 'until', problem })),
    };
  }
  // To the whole minute, as it is written and typed again.
  const at = end.at ?? now();
  return { ok: true, at: new Date(Math.ceil(at.getTime() / MINUTE_MS) * MINUTE_MS) };
}
