import { addDays, dayOf } from '../../src/base/time.ts';
import { lastCostChanges } from '../../src/costs/estimate.ts';
import { costSnapshots } from '../../src/costs/index.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import { effectiveFreezes } from '../../src/log/old/active-freezes.ts';
import { appendEvent, eventsOf, lastSeq } from '../../src/log/old/append.ts';
import { changesWithCard, changesWithoutCard } from '../../src/log/old/cards.ts';
import * as due from '../../src/log/old/change-due.ts';
import { listChanges } from '../../src/log/old/change-lists.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { registerConfiguration } from '../../src/log/old/configurations.ts';
import { changesToFollow, claimDueFollowUps } from '../../src/log/old/follow-ups.ts';
import { claimDueClicks, pruneInbox } from '../../src/log/old/inbox.ts';
import { lastOutcomes } from '../../src/log/old/last-outcomes.ts';
import { auditRefusal } from '../../src/log/old/matches-audit-trail.ts';
import { sentSince } from '../../src/log/old/permits.ts';
import { plannedParents } from '../../src/log/old/planned-reverts.ts';
import { recordedSchedule } from '../../src/log/old/schedule-events.ts';
import * as schedules from '../../src/log/old/schedules.ts';
import { lastTrailMark } from '../../src/log/old/trail-marks.ts';
import { createVerifiedEvents } from '../../src/log/old/verified-events.ts';
import { readGauges } from '../../src/ops/index.ts';
import { knownServices } from '../../src/servers/facts.ts';
import type { Tx } from '../../src/storage/old/database.ts';
import { lastDigests, unfinishedDigests } from '../../src/storage/old/digests.ts';
import { listInstances, pruneInstances, saveInstance } from '../../src/storage/old/instances.ts';
import { claimDueMessages, pruneOutbox } from '../../src/storage/old/outbox.ts';
import { pruneRateCounters } from '../../src/storage/old/rate-counters.ts';
import { dropExpiredSecrets } from '../../src/workflow/old/stored-secrets.ts';
import { AUDIT_KEY } from '../../test/harness/simulators.ts';
import { SERVICES } from './year.ts';

type Lane = (tx: Tx) => Promise<unknown>;
const DAY_MS = 86_400_000;

/** What every loop, hourly job and decision reads or claims; each runs in a transaction. */
export function lanesOf(now: Date, open: ChangeId): Readonly<Record<string, Lane>> {
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const batch = { owner: 'bench', now, leaseMs: 60_000, limit: 50 };
  const commands = ['service stop', 'service start', 'service scale'];
  const costed = new Map(commands.map((name) => [name, { effect: 'scale' }])) as never;
  const service = `service:${SERVICES[7]?.id}`;
  const organization = '0';
  return {
    'executions: due': (tx) => due.dueClaims(tx, now, { limit: 40 }),
    expiries: (tx) => due.dueExpiries(tx, now, 50),
    'plans of 1.0': (tx) => due.outdatedChanges(tx, 50),
    'expired leases': (tx) => due.expiredLeases(tx, now, 50),
    'reverts: due': (tx) => due.dueReverts(tx, { limit: 20 }),
    'inbox: claim': (tx) => claimDueClicks(tx, AUDIT_KEY, batch),
    'outbox: claim': (tx) => claimDueMessages(tx, batch),
    'follow: new': (tx) => changesToFollow(tx, { commands, endedSince: ago(1), limit: 20 }),
    'follow: claim': (tx) => claimDueFollowUps(tx, batch),
    'schedules: due': (tx) => schedules.dueSchedules(tx, now, { limit: 20, except: [] }),
    'schedules: one, from the trail': async (tx) => {
      const [first] = await schedules.currentSchedules(tx, SERVICES[7]?.id);
      if (first) await recordedSchedule(tx, AUDIT_KEY, first.id);
    },
    'schedules: manual change': (tx) => schedules.manualChangeSince(tx, service, ago(1)),
    'decision: change and trail': async (tx) => {
      const change = await loadChange(tx, open);
      if (!change || (await auditRefusal(tx, AUDIT_KEY, change)) !== null) throw new Error(open);
    },
    'decision: events of the change': (tx) => eventsOf(tx, open),
    'decision: compare with memory': (tx) =>
      createVerifiedEvents(AUDIT_KEY).compareChange(tx, open),
    'decision: freezes': (tx) => effectiveFreezes(tx, AUDIT_KEY, now),
    'decision: append an event': (tx) =>
      appendEvent(tx, AUDIT_KEY, { kind: 'snoozed', changeId: open, at: now, body: { by: 'U1' } }),
    'read target: sent since': (tx) => sentSince(tx, service, { since: ago(1), except: open }),
    'trail: mark and last event': async (tx) => {
      await lastTrailMark(tx, AUDIT_KEY);
      await lastSeq(tx);
    },
    presence: async (tx) => {
      const configuration = 'c'.repeat(64);
      const own = { id: 'bench', version: '1', configuration, startedAt: now, seenAt: now };
      await saveInstance(tx, own);
      await pruneInstances(tx, ago(1));
      await listInstances(tx);
      await registerConfiguration(
        tx,
        { hash: configuration, instance: 'bench', replaces: null },
        now,
      );
    },
    gauges: (tx) => readGauges(tx, now, 'c'),
    'hourly: cards': async (tx) => {
      await changesWithoutCard(tx, 500);
      await changesWithCard(tx, 500);
    },
    'hourly: marks of reverts': (tx) => due.markedReverts(tx, ago(3)),
    'hourly: events of reverts': async (tx) => {
      const marked = await due.markedReverts(tx, ago(3));
      await plannedParents(tx, AUDIT_KEY, marked);
    },
    'hourly: delete secrets': (tx) => dropExpiredSecrets(tx, now),
    'hourly: delete clicks': (tx) => pruneInbox(tx, ago(7)),
    'hourly: delete messages': (tx) => pruneOutbox(tx, ago(7)),
    'hourly: delete counters': (tx) => pruneRateCounters(tx, ago(7)),
    'hourly: services': (tx) => knownServices(tx),
    'effects: last changes of services': (tx) =>
      lastCostChanges(tx, addDays(dayOf(now), -84), costed),
    'digest: last posts': (tx) => lastDigests(tx),
    'digest: unfinished': (tx) => unfinishedDigests(tx, now),
    'digest: changes': (tx) => listChanges(tx, { states: ['succeeded'], limit: 200 }),
    'costs: snapshots': (tx) => costSnapshots(tx, organization, addDays(dayOf(now), -120)),
    'permissions: last outcomes': (tx) => lastOutcomes(tx),
  };
}
