import type { Logger } from 'pino';
import { during, outsideTrace, traced } from '../base/log.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { ChangeId } from '../domain/change.ts';
import type { EventOf } from '../domain/log-events.ts';
import { append } from '../log/index.ts';
import type { AlertReport } from '../servers/alert-webhook.ts';
import { type ClaimedJob, dropInstance, saveInstance, transaction } from '../storage/index.ts';
import { type AlertChannel, drawAlerts, pruneAlerts, receiveAlert } from './alerts.ts';
import type { WorkflowContext } from './context.ts';
import { elsewhereWatch } from './elsewhere.ts';
import { expireKind, lostKind, runKind, takeOver } from './execute.ts';
import { followTarget } from './follow.ts';
import { endFreeze } from './freezes.ts';
import {
  createJobLoop,
  type JobKind,
  type JobKinds,
  type JobLoop,
  type JobResult,
  type Repeated,
  repeated,
} from './jobs.ts';
import { redrawOpen } from './moves.ts';
import { directoryWatch } from './news.ts';
import { pressKind } from './press.ts';
import { pruneRates } from './rates.ts';
import { planRevert } from './reverts.ts';
import { runSchedule } from './schedules.ts';
import { dropExpiredSecrets, resealSecrets } from './secret.ts';
import { messageKinds, reportLate } from './show.ts';
import { checkChannels, isUnread, mendLog, watchLog } from './witness.ts';

interface BackgroundOptions {
  readonly release: string;
  /** Whether no other process uses the database, so that what executes in it was left by one that is gone. */
  readonly takesOver: boolean;
  /** Whether Slack delivers: what only helps people is not read before. */
  readonly isConnected: () => boolean;
  /** The audit channel; null: there is none. */
  readonly audit: string | null;
  readonly alertChannels: readonly AlertChannel[];
  /** Kinds of jobs of other rooms. */
  readonly kinds: JobKinds;
}

/**
 * What runs without a press: jobs, the reading of channels, and upkeep. Records that this process started; nothing runs
 * before `start`.
 */
export async function openBackground(
  context: WorkflowContext,
  { release, takesOver, isConnected, audit, alertChannels, kinds }: BackgroundOptions,
) {
  const { events, store, instance, log } = context;
  await record(context, { type: 'started', release, instance });
  await resealSecrets(store, events.keys);
  if (takesOver) await takeOver(context);
  const onError = (error: unknown) => mendLog(context, error);
  const onLate = (job: ClaimedJob) => reportLate(context, job);
  const all = { ...jobKinds(context), ...kinds };
  const jobs = createJobLoop({ ...context, onError, onLate }, all);
  let guard: ReturnType<typeof startGuard> | null = null;
  let periodic: readonly Repeated[] = [];
  return {
    receiveAlert: (report: AlertReport) => receiveAlert(context, alertChannels, report),
    /** Looks for due jobs now. */
    wakeJobs: jobs.wake,
    /** Looks for all work now. */
    wake: () => {
      guard?.wake();
      jobs.wake();
      for (const each of periodic) each.wake();
    },
    /** To be called when this configuration is the active one. */
    start: async (upkeep: readonly MaintenanceJob[]) => {
      // One of each organization: one that does not answer does not stop the others.
      const { now } = context;
      const startedAt = now().getTime();
      const elsewhere = context.organizations.map((organization) => {
        const watch = elsewhereWatch({ ...context, organization }, audit);
        const work = async () => {
          // A start has enough to read, and people ask first.
          const isDue = isConnected() && now().getTime() - startedAt >= MINUTE_MS;
          return isDue ? watch() : 'not-due';
        };
        return { name: `read activities of ${organization}`, work, everyMs: WATCHED_EVERY_MS };
      });
      guard = startGuard(context, jobs);
      periodic = [...upkeepJobs(context, release), ...upkeep, ...elsewhere].map((job) =>
        startUpkeep(log, job),
      );
    },
    /** Leaves all jobs that do not run yet to the bot that replaces this one: they are done by its configuration. */
    pause: async () => {
      await guard?.stop();
      await jobs.pause();
    },
    /** Whether the channels were read, so that changes are drawn and executed. */
    isChecked: () => guard?.isChecked() ?? false,
    /** Ends the work in progress, closes what it uses, and records the stop of the process. */
    stop: async (close: () => Promise<void>) => {
      await guard?.stop();
      await jobs.stop();
      await Promise.all(periodic.map((each) => each.stop()));
      await close();
      try {
        await transaction(store, (tx) => dropInstance(tx, instance));
        await record(context, { type: 'stopped', instance });
      } catch (err) {
        // A log that is damaged, or a database that is away, must not prevent the stop.
        log.warn({ err }, 'the stop could not be recorded');
      }
    },
  };
}

/** Records under which release and process all later events happen. */
async function record(
  { events }: Pick<WorkflowContext, 'events'>,
  event: Extract<EventOf<'installation/processes'>, { type: 'started' | 'stopped' }>,
): Promise<void> {
  const stream = 'installation/processes';
  await append(events, async () => ({ events: [{ stream, event }], result: null }));
}

const RETRY_MS = 30_000;

/** Every kind of job of the workflow. */
export function jobKinds(context: WorkflowContext) {
  type Work = (context: WorkflowContext, id: ChangeId) => Promise<JobResult>;
  const inBackground = (work: Work): JobKind => ({
    lane: 'background',
    retryMs: () => RETRY_MS,
    run: ({ key }) => work(context, key as ChangeId),
  });
  return {
    ...messageKinds(context),
    alert: { lane: 'messages', run: ({ key }) => drawAlerts(context, key) } satisfies JobKind,
    press: pressKind(context),
    run: runKind(context),
    expire: expireKind(context),
    lost: lostKind(context),
    revert: inBackground(planRevert),
    schedule: inBackground(runSchedule),
    freeze: inBackground(endFreeze),
    follow: inBackground(followTarget),
  };
}

const WATCHED_EVERY_MS = 1_000;

/** A process that was not seen for this long is gone. */
const GONE_AFTER_MS = 3 * MINUTE_MS;

function upkeepJobs(context: WorkflowContext, release: string): readonly MaintenanceJob[] {
  const { store, instance: id, now } = context;
  const startedAt = now();
  /** Lists this process among the replicas, for the doctor. Nothing is decided from the list. */
  const present = () => {
    const seenAt = now();
    const goneBefore = new Date(seenAt.getTime() - GONE_AFTER_MS);
    return transaction(store, (tx) =>
      saveInstance(tx, { id, release, startedAt, seenAt }, goneBefore),
    );
  };
  return [
    { name: 'list this process', work: present, everyMs: MINUTE_MS },
    { name: 'drop alerts', work: () => pruneAlerts(context), everyMs: DAY_MS },
    // Finds deleted cards, too. At the start, the configuration may be a new one.
    { name: 'check cards', work: () => redrawOpen(context), everyMs: HOUR_MS },
    { name: 'watch directory', work: directoryWatch(context), everyMs: WATCHED_EVERY_MS },
    { name: 'drop passwords', work: () => dropExpiredSecrets(context), everyMs: HOUR_MS },
    { name: 'drop counters', work: () => pruneRates(context), everyMs: HOUR_MS },
  ];
}

/** Periodic work that no user waits for. */
export interface MaintenanceJob {
  readonly name: string;
  readonly work: () => Promise<unknown>;
  readonly everyMs: number;
}

/** `wake` runs only what is repeated every few seconds, for tests with a clock of their own. */
function startUpkeep(log: Logger, { name, work, everyMs }: MaintenanceJob): Repeated {
  const lines = {
    began: `maintenance job failed: ${name}; it runs again later`,
    ended: `maintenance job runs again: ${name}`,
  };
  const run = () =>
    outsideTrace(() => during({}, () => traced({ name: `maintenance ${name}` }, work)));
  const started = repeated(log, lines, { work: run, everyMs });
  return everyMs < MINUTE_MS ? started : { ...started, wake: () => {} };
}

const JOBS_EVERY_MS = 1_000;
const WATCH_EVERY_MS = 5_000;

/**
 * No job runs before the channels were read: Signalbox would draw its own older state over what people saw. The same
 * after the promotion of a standby, which may have lost the last commits, after a connection was lost, behind which the
 * database may have been restored, and when an end that this process knew is gone. Once a day they are read meanwhile.
 */
function startGuard(context: WorkflowContext, jobs: JobLoop) {
  let isChecked = false;
  let isStopped = false;
  let known = '';
  let checkedAt = 0;
  const server = async () => `${await context.store.timeline()} ${context.store.lostConnections()}`;
  const check = async (): Promise<void> => {
    const [before, began] = [await server(), context.now().getTime()];
    await checkChannels(context);
    [known, checkedAt] = [before, began];
    if (isChecked || isStopped) return;
    isChecked = true;
    jobs.start(JOBS_EVERY_MS);
  };
  const work = async (): Promise<void> => {
    await watchLog(context);
    const isSuspect = isUnread(context) || (await server()) !== known;
    if (isChecked && isSuspect) {
      isChecked = false;
      // Paused first: messages wait until the channels are read.
      await jobs.pause();
      await jobs.stop();
    }
    const isDue = !isChecked || context.now().getTime() - checkedAt >= DAY_MS;
    if (isDue && !isStopped) await check();
  };
  const { wake, stop } = repeated(context.log, UNREAD, { work, everyMs: WATCH_EVERY_MS });
  return {
    wake,
    isChecked: () => isChecked,
    stop: () => {
      isStopped = true;
      return stop();
    },
  };
}

const UNREAD = {
  began:
    'the channels could not be read, so that nothing is drawn or executed; they are read again',
  ended: 'the channels were read',
};
