import type { Logger } from 'pino';
import { createOutageLog, during, note, outsideTrace, traced, type Work } from '../base/log.ts';
import { isChangeId } from '../domain/change.ts';
import {
  type ClaimedJob,
  claimJobs,
  endJob,
  renewJob,
  retryJob,
  transaction,
} from '../storage/index.ts';
import type { DecisionContext } from './context.ts';

/** What a job is asked to do: everything else is computed from the log at that moment. */
export interface JobTry {
  readonly key: string;
  /** An earlier try got no answer, so that its message may exist already. */
  readonly again: boolean;
  readonly attempts: number;
}

/** `Date`: the job is due again at this time, without having failed. `waitsUntil`: the same, and it is late. */
export type JobResult = 'done' | Date | { readonly waitsUntil: Date };

export interface JobKind {
  readonly run: (job: JobTry) => Promise<JobResult>;
  /** Jobs of one lane and subject run one after the other; the lane bounds how many run at once. */
  readonly lane: Lane;
  /** Of the jobs of one subject, the lowest runs first. */
  readonly rank?: number;
  /** The waits after a failure. Missing: 2 s, growing to 10 minutes. */
  readonly retryMs?: (attempts: number) => number;
  /** The trace that the job continues, as `traceHere` returned it; without it, the job is a trace of its own. */
  readonly traceOf?: (key: string) => Work['from'];
  /** Called instead of another try, once the job has failed for a day. */
  readonly giveUp?: (key: string) => Promise<void>;
}

const LANES = { presses: 20, runs: 40, messages: 50, background: 10 } as const;
type Lane = keyof typeof LANES;

export type JobKinds = Readonly<Record<string, JobKind>>;

export type JobLoop = ReturnType<typeof createJobLoop>;

const OUTAGE = { began: 'job failed; it is tried again', ended: 'jobs of this kind succeed again' };
const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 600_000;
/** Most errors of Slack pass before. */
const LATE_MS = 120_000;
/** With these waits, a job was tried for a day. */
const GIVE_UP_AFTER = 155;

/** One loop for everything that is due: it claims jobs of all processes and runs them by their kinds. */
export function createJobLoop(
  context: Pick<DecisionContext, 'store' | 'log' | 'now' | 'instance'> & {
    /** Called for the error of a job, before its next try is planned. */
    readonly onError: (error: unknown) => Promise<void>;
    /** Called after each try of a message that was due two minutes ago, and is not posted. */
    readonly onLate: (job: ClaimedJob) => Promise<void>;
  },
  kinds: JobKinds,
) {
  const { store, log, now, instance: owner } = context;
  /** The end of what runs of a lane and subject. */
  const queues = new Map<string, Promise<void>>();
  const running = new Map<string, Lane>();
  /** Claimed while it still ran here: it was requested again, or its lease ended because the machine slept. */
  const claimedAgain = new Map<string, ClaimedJob>();
  let claims: Repeated | null = null;
  const wake = (): void => claims?.wake();

  const placesIn = ([lane, all]: readonly [string, number]) => ({
    lane,
    kinds: Object.keys(kinds).filter((each) => kinds[each]?.lane === lane),
    most: all - [...running.values()].filter((each) => each === lane).length,
  });

  /** One line for each kind of job and error, until a job of this kind succeeds. */
  const outages = new Map(Object.keys(kinds).map((kind) => [kind, createOutageLog(log, OUTAGE)]));

  /** Lanes that had no place for more of what is due. */
  const filled = new Set<string>();

  /** Returns whether the job may be due again by now. */
  const runJob = async (job: ClaimedJob, kind: JobKind): Promise<boolean> => {
    const { key, attempts } = job;
    const renewing = setInterval(() => {
      transaction(store, (tx) => renewJob(tx, job, now().getTime() + LEASE_MS)).catch((err) =>
        log.debug({ err, job: job.kind, key }, 'lease of a job could not be renewed'),
      );
    }, RENEW_MS);
    try {
      const result = await kind.run({ key, attempts, again: attempts > 1 });
      const endedAt = now().getTime();
      outages.get(job.kind)?.ended();
      const isDue = await transaction(store, async (tx) => {
        if (result === 'done') return !(await endJob(tx, job));
        const isPlanned = result instanceof Date;
        const { waitsUntil: at } = isPlanned ? { waitsUntil: result } : result;
        await retryJob(tx, { ...job, attempts: 0 }, at.getTime(), isPlanned);
        return true;
      });
      if (typeof result === 'object' && 'waitsUntil' in result)
        await reportLate(job, kind, endedAt);
      return isDue;
    } catch (err) {
      note({ 'error.type': 'failed' });
      outages.get(job.kind)?.failed(String(err), { err, job: job.kind, key });
      await context.onError(err);
      const endedAt = now().getTime();
      await failed(job, kind);
      await reportLate(job, kind, endedAt);
      return true;
    } finally {
      clearInterval(renewing);
    }
  };

  const reportLate = async (job: ClaimedJob, { lane }: JobKind, at: number): Promise<void> => {
    if (lane === 'messages' && at - job.since >= LATE_MS) await context.onLate(job);
  };

  const failed = async (job: ClaimedJob, kind: JobKind): Promise<void> => {
    const { attempts } = job;
    if (attempts >= GIVE_UP_AFTER) {
      await kind.giveUp?.(job.key);
      await transaction(store, (tx) => endJob(tx, job));
      return;
    }
    const growing = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_RETRY_MS);
    const waitMs = kind.retryMs?.(attempts) ?? growing;
    await transaction(store, (tx) => retryJob(tx, job, now().getTime() + waitMs));
  };

  const begin = (job: ClaimedJob, kind: JobKind): void => {
    const id = `${job.kind}/${job.key}`;
    if (running.has(id)) return void claimedAgain.set(id, job);
    running.set(id, kind.lane);
    const [subject = ''] = job.key.split('/');
    const queue = `${kind.lane}/${subject}`;
    const change = isChangeId(subject) ? subject : undefined;
    const work = {
      name: `job ${job.kind}`,
      kind: 'consumer',
      facts: { 'signalbox.change': change },
      from: kind.traceOf?.(job.key),
    } as const;
    const about = { change, what: work.name };
    const run = () =>
      outsideTrace(() => during(about, () => traced(work, () => runJob(job, kind))));
    const ended = (queues.get(queue) ?? Promise.resolve())
      .then(run)
      .catch((err: unknown) => {
        log.error({ err, job: id }, 'end of a job could not be stored');
        return true;
      })
      .then((isDue) => {
        running.delete(id);
        if (queues.get(queue) === ended) queues.delete(queue);
        const next = claimedAgain.get(id);
        claimedAgain.delete(id);
        if (isDue && next) begin(next, kind);
        else if (isDue || filled.has(kind.lane)) wake();
      });
    queues.set(queue, ended);
  };

  const claim = async (all = Object.entries(LANES)): Promise<void> => {
    const lanes = all.map(placesIn);
    const batch = { owner, now: now().getTime(), leaseMs: LEASE_MS, lanes };
    const jobs = await transaction(store, (tx) => claimJobs(tx, batch));
    const rank = ({ kind }: ClaimedJob) => kinds[kind]?.rank ?? 0;
    for (const job of jobs.toSorted((a, b) => rank(a) - rank(b) || a.dueAt - b.dueAt)) {
      const kind = kinds[job.kind];
      if (kind) begin(job, kind);
    }
    for (const { lane, most, kinds: own } of lanes) {
      const isFilled = jobs.filter(({ kind }) => own.includes(kind)).length === most;
      filled[isFilled ? 'add' : 'delete'](lane);
      if (isFilled && most > 0) wake();
    }
  };

  const pause = async (): Promise<void> => {
    const stopped = claims;
    claims = null;
    await stopped?.stop();
  };

  return {
    /** Claims what is due soon. */
    wake,
    /** Claims nothing more. */
    pause,
    start: (everyMs: number) => {
      claims = repeated(log, CLAIM_OUTAGE, { work: () => claim(), everyMs });
    },
    /**
     * Claims nothing more, and resolves when all jobs that run have ended. Where a change ran, its messages are sent as
     * well: this process may be the only one. One that was paused has another that sends them.
     */
    stop: async () => {
      const isTold = claims !== null && [...running.values()].includes('runs');
      await pause();
      await Promise.all(queues.values());
      // The database may be away: a later process sends them.
      const left = (err: unknown) => log.warn({ err }, 'messages could not be claimed at the stop');
      if (isTold) await claim([['messages', LANES.messages]]).catch(left);
      await Promise.all(queues.values());
    },
  };
}

const CLAIM_OUTAGE = { began: 'jobs could not be claimed', ended: 'jobs are claimed again' };

/** Work that is repeated in this process. */
export type Repeated = ReturnType<typeof repeated>;

/**
 * Runs work at once and then periodically, one run at a time. A failed run is logged, and repeated at the next time.
 * `not-due`: the run did nothing, so that an outage has not ended.
 */
export function repeated(
  log: Logger,
  lines: Parameters<typeof createOutageLog>[1],
  { work, everyMs }: { readonly work: () => Promise<unknown>; readonly everyMs: number },
) {
  const outage = createOutageLog(log, lines);
  let isStopped = false;
  let isAsked = false;
  let running: Promise<void> | null = null;
  const run = async (): Promise<void> => {
    try {
      while (isAsked && !isStopped) {
        isAsked = false;
        if ((await work()) !== 'not-due') outage.ended();
      }
    } catch (err) {
      outage.failed(String(err), { err });
    }
    running = null;
  };
  const wake = (): void => {
    if (isStopped) return;
    isAsked = true;
    running ??= run();
  };
  const timer = setInterval(() => running ?? wake(), everyMs);
  wake();
  return {
    /** Runs it now; while it runs, once more afterwards. */
    wake,
    /** Resolves when the current run has ended. */
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
