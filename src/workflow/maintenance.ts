import type { Logger } from 'pino';
import { createOutageLog, during, outsideTrace, traced } from '../base/log.ts';
import { saveInstance, transaction } from '../storage/index.ts';
import type { DecisionContext } from './context.ts';

/** Periodic work that no user waits for. A failed run is logged and repeated at the next time. */
export interface MaintenanceJob {
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly everyMs: number;
}

/** Runs each job at once and then periodically. `stop` resolves when the current runs have ended. */
export function startMaintenance(log: Logger, jobs: readonly MaintenanceJob[]) {
  const started = jobs.map(({ name, work, everyMs }) => {
    const outage = createOutageLog(log, {
      began: `maintenance job failed: ${name}; it runs again later`,
      ended: `maintenance job runs again: ${name}`,
    });
    const job: { running: Promise<void> | null } = { running: null };
    const run = () => {
      job.running ??= outsideTrace(() =>
        during({}, () => traced({ name: `maintenance ${name}` }, work)),
      )
        .then(
          () => outage.ended(),
          (err: unknown) => outage.failed(String(err), { err, job: name }),
        )
        .finally(() => {
          job.running = null;
        });
    };
    run();
    return { run, job, timer: setInterval(run, everyMs), isOften: everyMs < 60_000 };
  });
  return {
    /** Runs what is repeated every few seconds now, for tests with a clock of their own. */
    wake: () => {
      for (const { run, isOften } of started) if (isOften) run();
    },
    stop: async () => {
      for (const { timer } of started) clearInterval(timer);
      await Promise.all(started.map(({ job }) => job.running));
    },
  };
}

/** A process that was not seen for this long is gone. */
const GONE_AFTER_MS = 180_000;

/** Lists this process among the replicas, for the doctor. Nothing is decided from the list. */
export function presence(
  { store, instance: id, now }: DecisionContext,
  release: string,
): MaintenanceJob {
  const startedAt = now();
  const save = () => {
    const row = { id, release, startedAt, seenAt: now() };
    const goneBefore = new Date(row.seenAt.getTime() - GONE_AFTER_MS);
    return transaction(store, (tx) => saveInstance(tx, row, goneBefore));
  };
  return { name: 'list this process', work: save, everyMs: 60_000 };
}
