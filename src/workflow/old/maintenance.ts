import type { Logger } from 'pino';
import { traced } from '../../base/log.ts';
import { DAY_MS, HOUR_MS } from '../../base/time.ts';
import { pruneReports } from '../../log/old/announcement.ts';
import { pruneInbox } from '../../log/old/inbox.ts';
import { pruneOutbox } from '../../storage/old/outbox.ts';
import { pruneRateCounters } from '../../storage/old/rate-counters.ts';
import { checkCards } from './check-cards.ts';
import { checkFreezes } from './check-freezes.ts';
import { checkReverts } from './check-reverts.ts';
import { pruneDirectCards } from './direct-cards.ts';
import type { WorkflowContext } from './ports.ts';
import { dropExpiredSecrets } from './stored-secrets.ts';

const KEEP_MS = 7 * DAY_MS;

/** Periodic work that no user waits for. A failed run is logged and repeated at the next time. */
export interface MaintenanceJob {
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly everyMs: number;
}

/** Checks what is stored against the audit trail, and deletes expired rows. */
export function workflowJobs(context: WorkflowContext): readonly MaintenanceJob[] {
  return [
    { name: 'check cards', work: () => checkCards(context), everyMs: HOUR_MS },
    { name: 'check freezes', work: () => checkFreezes(context), everyMs: HOUR_MS },
    { name: 'check reverts', work: () => checkReverts(context), everyMs: HOUR_MS },
    { name: 'prune', work: () => deleteExpired(context), everyMs: HOUR_MS },
  ];
}

/** Runs each job at once and then periodically. `stop` resolves when the current runs have ended. */
export function startMaintenance(log: Logger, jobs: readonly MaintenanceJob[]) {
  const started = jobs.map(({ name, work, everyMs }) => {
    const run = () =>
      traced<unknown>({ name: `maintenance ${name}` }, work).catch((error: unknown) => {
        log.warn({ err: error, job: name }, 'maintenance job failed; it runs again later');
      });
    const job = { last: run() };
    const timer = setInterval(() => {
      job.last = run();
    }, everyMs);
    return { timer, job };
  });
  return {
    stop: async () => {
      for (const { timer } of started) clearInterval(timer);
      await Promise.all(started.map(({ job }) => job.last));
    },
  };
}

// Slack refuses a replayed click after five minutes, so that its key is not needed for a week.
async function deleteExpired(context: WorkflowContext): Promise<void> {
  const now = context.now();
  const before = new Date(now.getTime() - KEEP_MS);
  await context.database.transaction(async (tx) => {
    await dropExpiredSecrets(tx, now);
    await pruneInbox(tx, before);
    await pruneOutbox(tx, before);
    await pruneRateCounters(tx, before);
    await pruneReports(tx, now);
    await pruneDirectCards(tx, now);
  });
}
